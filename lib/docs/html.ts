/** Markup that cannot be mistaken for text: whatever else is put into it is escaped. */

const markup = Symbol('markup');

export interface Html {
  readonly [markup]: string;
}

type Part = Html | string | number | undefined | readonly Part[];

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

const rendered = (part: Part): string => {
  if (part === undefined) return '';
  if (typeof part !== 'object') return escaped(String(part));
  return markup in part ? part[markup] : part.map(rendered).join('');
};

/** Markup with text, numbers and other markup in it. Text is escaped, also in attributes in quotes. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  [markup]: strings.reduce((before, after, index) => before + rendered(parts[index - 1]) + after),
});

/** Text that is known to be safe as it stands. */
export const trusted = (text: string): Html => ({ [markup]: text });

/** The parts with something between each two of them. */
export const joined = (parts: readonly Part[], between: Part): Html =>
  html`${parts.map((part, index) => (index === 0 ? part : [between, part]))}`;

export const textOf = (page: Html): string => page[markup];
