import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const [before = '', scale = '', ...rest] = readFileSync('functions/console/web/style.css', 'utf8')
  .replaceAll(/\/\*.*?\*\//gs, '')
  .split(/(:root \{.*?\n\})/s);
const rules = before + rest.join('');

/** The declarations of a part of the style sheet, each with its property and its value on one line. */
const declarationsOf = (css: string): readonly (readonly [property: string, value: string])[] =>
  [...css.matchAll(/([\w-]+):\s*([^;{}]+);/g)].map(([, property = '', value = '']) => [
    property,
    value.replaceAll(/\s+/g, ' '),
  ]);

/** The declarations whose property fits and whose value, without the names of the scale, does not. */
const others = (property: RegExp, isOther: (value: string) => boolean): readonly string[] =>
  declarationsOf(rules)
    .filter(
      ([name, value]) => property.test(name) && isOther(value.replaceAll(/var\([^)]*\)/g, '')),
    )
    .map(([name, value]) => `${name}: ${value}`);

const length = /\d(?:rem|em|px|ch|pt)\b/;

/** The words that values have beside colours, and the colours that come from another declaration. */
const colourless = /^(?:none|solid|inset|inherit|currentcolor|transparent|color-mix|in|srgb|px)$/;

describe('The style sheet of the console', () => {
  it('takes every colour from its scale', () => {
    expect(
      others(
        /^(?:color|fill|stroke|box-shadow|(?:background|border|outline)(?:-color)?)$/,
        (value) => (value.match(/#|[a-z][a-z-]*/gi) ?? []).some((word) => !colourless.test(word)),
      ),
    ).toEqual([]);
  });

  it('takes every text size from its scale', () => {
    expect(others(/^font(?:-size)?$/, (value) => !/^(?:inherit)?$/.test(value))).toEqual([]);
  });

  it('takes every space and every radius from its scale', () => {
    const property =
      /^(?:(?:padding|margin|inset)(?:-[\w-]+)?|(?:row-|column-)?gap|border-radius)$/;

    expect(others(property, (value) => length.test(value))).toEqual([]);
  });

  it('has a short scale, whose every name is used and every used name is there', () => {
    const names = declarationsOf(scale).map(([name]) => name);
    const used = [...(scale + rules).matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name);

    expect(names.filter((name) => name.startsWith('--')).sort()).toEqual([...new Set(used)].sort());
    expect(names.filter((name) => name.startsWith('--font-'))).toHaveLength(4);
    expect(names.filter((name) => name.startsWith('--space-'))).toHaveLength(5);
  });
});
