/**
 * What a stack has, as texts that are read whenever they change: `npm test -- --update` with this file writes
 * them. The stack with every setting is written whole; of the others, what differs from it. What settings turn
 * on and off, and how resources fit each other, is in the tests beside this one.
 */
import { describe, expect, it } from 'vitest';
import { functionsIn, type Kind, othersIn, type Part } from './described.ts';
import { everything, production, synthesise } from './template.ts';

const aspects = [
  ['functions', functionsIn],
  ['resources', othersIn],
] as const;

describe.each(aspects)('The %s of a stack', (aspect, kindsOf) => {
  const whole = kindsOf(synthesise(everything));

  it('equal the reviewed text if every setting is on', async () => {
    await expect(wholeText(whole)).toMatchFileSnapshot(`reviewed/everything-${aspect}.txt`);
  });

  it.each([
    ['development', {}],
    ['production', production],
  ])(
    'differ in stage %s from that text only by the reviewed differences',
    async (stage, settings) => {
      const kinds = kindsOf(synthesise(settings));
      const changes = differencesOf(kinds, whole);

      // Nothing is lost: what differs, applied to the whole, gives the stack.
      expect(sorted(applied(changes, whole))).toEqual(sorted(kinds));
      await expect(changesText(changes)).toMatchFileSnapshot(`reviewed/${stage}-${aspect}.txt`);
    },
  );
});

/** A part of two stacks: the lines that only the one has, and the names of lines that only the other has. */
interface Difference extends Part {
  readonly absent: readonly string[];
}

interface Differences {
  readonly title: string;
  /** The parts that are in both stacks. */
  readonly parts: readonly Difference[];
  readonly added: readonly Part[];
  readonly absent: readonly string[];
}

function differencesOf(kinds: readonly Kind[], whole: readonly Kind[]): readonly Differences[] {
  const titles = new Set([...whole, ...kinds].map(({ title }) => title));
  return [...titles].map((title) => {
    const before = partsOf(whole, title);
    const after = partsOf(kinds, title);
    const named = (parts: readonly Part[], one: Part) =>
      parts.find((part) => part.name === one.name);
    const parts = after.flatMap((part) => {
      const { lines } = named(before, part) ?? {};
      return lines ? [differenceOf(part, lines)] : [];
    });
    const added = after.filter((part) => !named(before, part));
    const absent = before.filter((part) => !named(after, part)).map(({ name }) => name);
    return { title, parts, added, absent };
  });
}

function partsOf(kinds: readonly Kind[], title: string): readonly Part[] {
  return kinds.find((kind) => kind.title === title)?.parts ?? [];
}

/** A line of its own replaces the one with the same key. */
function differenceOf({ name, lines }: Part, whole: readonly string[]): Difference {
  const own = lines.filter((line) => !whole.includes(line));
  const absent = whole.filter((line) => !(lines.includes(line) || isReplaced(line, own)));
  return { name, lines: own, absent: absent.map((line) => nameIn(line, whole)) };
}

function isReplaced(line: string, own: readonly string[]): boolean {
  return own.some((other) => keyOf(other) === keyOf(line));
}

/** The name of a property, or what a statement allows and on which resource. */
function keyOf(line: string): string {
  return line.replace(/(?<=\w): .*| where .*/, '');
}

/** The fewest first words of a line by which it is the only one that is meant. */
function nameIn(line: string, lines: readonly string[]): string {
  const words = line.split(' ');
  const names = words.map((_, i) => words.slice(0, i + 1).join(' '));
  return names.find((name) => meant(name, lines).length === 1) ?? line;
}

function meant(name: string, lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line === name || line.startsWith(`${name} `));
}

function applied(changes: readonly Differences[], whole: readonly Kind[]): readonly Kind[] {
  return changes.map(({ title, parts, added, absent }) => {
    const kept = partsOf(whole, title).filter(({ name }) => !absent.includes(name));
    const changed = kept.map(({ name, lines }) => {
      const { lines: own = [], absent = [] } = parts.find((part) => part.name === name) ?? {};
      const gone = absent.flatMap((each) => meant(each, lines));
      const kept = lines.filter((line) => !(gone.includes(line) || isReplaced(line, own)));
      return { name, lines: [...kept, ...own] };
    });
    return { title, parts: [...changed, ...added] };
  });
}

/** Kinds without those that have no part. The order of parts and lines means nothing. */
function sorted(kinds: readonly Kind[]) {
  const all = kinds.map(({ title, parts }) => ({
    title,
    parts: parts.map(({ name, lines }) => `${name}\n${[...lines].sort().join('\n')}`).sort(),
  }));
  return all
    .filter(({ parts }) => parts.length > 0)
    .sort((one, other) => (one.title < other.title ? -1 : 1));
}

function wholeText(kinds: readonly Kind[]): string {
  return textOf(kinds.flatMap(({ title, parts }) => sharing(title, parts)));
}

function changesText(changes: readonly Differences[]): string {
  const kinds = changes.map(({ title, parts, added, absent }) => {
    const changed = parts.map((part): Part => {
      const gone = part.absent.map((name) => `- ${name}`);
      return { name: part.name, lines: [...gone, ...part.lines.map((line) => `+ ${line}`)] };
    });
    const news = added.map(({ name, lines }) => {
      return { name: `  + ${name}`, lines: lines.map((line) => `+ ${line}`) };
    });
    return [
      ...sharing(title, changed).filter(({ lines }) => lines.length > 0),
      ...news,
      ...absent.map((name) => ({ name: `  - ${name}`, lines: [] })),
    ];
  });
  return textOf(kinds.filter(({ length }) => length > 0).flat());
}

/** The lines that all parts have, under a title, and then what each has besides. */
function sharing(title: string, parts: readonly Part[]): readonly Part[] {
  const [{ lines: first } = { lines: [] }] = parts;
  const shared = first.filter((line) => parts.every(({ lines }) => lines.includes(line)));
  const others = parts.map(({ name, lines }) => {
    return { name: `  ${name}`, lines: lines.filter((line) => !shared.includes(line)) };
  });
  return [{ name: `${title}:`, lines: shared }, ...others];
}

function textOf(parts: readonly Part[]): string {
  const lines = parts.flatMap(({ name, lines }) => [name, ...inRows(lines)]);
  return `${lines.join('\n').replaceAll(/\n(?=\S)/g, '\n\n')}\n`;
}

/** The lines, indented. What is named is in one row: variables that a function knows, and what is absent. */
function inRows(lines: readonly string[]): readonly string[] {
  const rows = Map.groupBy(lines, (line) => /^(?:[+-] )?knows |^- /.exec(line)?.[0] ?? line);
  return [...rows].map(([start, all]) => {
    const names = all.map((line) => line.slice(start.length).replace(/[:,]$/, ''));
    return `    ${all[0] === start ? start : start + names.join(start === '- ' ? '; ' : ', ')}`;
  });
}
