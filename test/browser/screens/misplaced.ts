/** Runs in the page: the elements that are broken, overlap others or are outside of the window. */
export const misplaced = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const columns = innerWidth / parseFloat(getComputedStyle(document.documentElement).fontSize);
  const box = (element) => element.getBoundingClientRect();
  const isOnLines = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 4))).size > 1;
  };
  const beside = (first) => box(first.nextElementSibling).left >= box(first).right && box(first.nextElementSibling).top < box(first).bottom;
  const found = {
    broken: all([columns > 20 ? '.badge' : '.badge:not(li > .badge)', ...(columns > 20 ? ['td time'] : []), ...(columns > 33 ? ['.whole:not(.trail .whole)', 'figure time'] : [])].join())
      .filter((element) => element.innerText.length < 50 && isOnLines(element)),
    'not beside its value': all('dl dt').filter((dt) => !beside(dt)),
    'not beside the title': all('dialog h2').filter((title) => !beside(title)),
    'not beside its name': all('td [type=checkbox]').filter((box) => !beside(box)),
    // A long name is cut, whose entry shows it in its dialog.
    'cut in the trail': all('.lines td, .lines td :not(.unseen, .person bdi)').filter((element) => element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1),
    outside: document.documentElement.scrollWidth > innerWidth
      ? all('body *').filter((element) => box(element).right > innerWidth + 1).slice(0, 9)
      : [],
  };
  return Object.entries(found).flatMap(([what, elements]) =>
    elements.map(({ outerHTML }) => what + ': ' + outerHTML.slice(0, 120)));
})()`;
