/**
 * Keeps the focus in the page. If the focused element is removed, browsers give the focus to the whole document, from
 * where keyboards and screen readers begin anew: it goes to the nearest heading around the removed element instead.
 */
export const keepFocus = (root: Element): void => {
  /** The element that has the focus, the elements around it and, from a dialog on, those that had opened it. */
  let path: readonly Element[] = [];
  addEventListener('focusin', ({ target }) => {
    if (target instanceof Element) path = pathOf(target, path);
  });
  // A click beside all controls takes the focus away on purpose.
  addEventListener('pointerdown', ({ target }) => {
    if (!path[0]?.contains(target as Node)) path = [];
  });
  new MutationObserver(() => {
    if (!path[0] || path[0].isConnected) return;
    const place = path.find((each) => each.isConnected);
    path = [];
    if (document.activeElement === document.body) headingOf(place)?.focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true });
};

const pathOf = (element: Element | null, before: readonly Element[]): readonly Element[] => {
  if (!element) return [];
  if (element.matches('dialog')) return [element, ...before.slice(before.indexOf(element) + 1)];
  return [element, ...pathOf(element.parentElement, before)];
};

const headingOf = (place: Element | undefined): HTMLElement | null => {
  const part = place?.closest('section, dialog, main') ?? document.querySelector('main');
  const heading = part?.querySelector<HTMLElement>('h1, h2') ?? null;
  if (heading) heading.tabIndex = -1;
  return heading;
};
