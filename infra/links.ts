/**
 * A text in Markdown in which links are replaced by their words; code blocks are not changed.
 * @param isKept whether a link stays, by its target
 */
export function withoutLinks(
  text: string,
  isKept: (target: string) => boolean = () => false,
): string {
  const words = (part: string) =>
    part.replaceAll(/\[([^\]]+)\]\(([^)\s]+)[^)]*\)/g, (link, shown, target) =>
      isKept(target) ? link : shown,
    );
  const parts = text.split(/(^```.*?^```)/ms);
  return parts.map((part) => (part.startsWith('```') ? part : words(part))).join('');
}

/** Whether a link leads to no other file: to the web, or to a section of the same file. */
export function isOutside(target: string): boolean {
  return /^(?:https:|#)/.test(target);
}
