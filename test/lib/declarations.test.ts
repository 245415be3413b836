import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseAst } from 'vitest/node';

// Pages keep arrow functions, because their bundles must not grow by the longer form.
const files = globSync('{functions,infra,lib}/**/*.ts', {
  exclude: ['functions/{console,docs}/web/**'],
});

interface Node {
  readonly type: string;
  readonly start: number;
}

/** A statement at the top level of a file. */
interface Part {
  readonly name: string;
  readonly kind: 'function' | 'arrow' | 'other';
  readonly isExported: boolean;
  /** Whether the statement is run for its effect, and declares no name. */
  readonly runs: boolean;
  /** The names that the statement uses and does not declare itself, in the order of the text. */
  readonly names: readonly string[];
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;

const childrenOf = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode);

/** A node and all nodes below it. */
const within = (node: Node): readonly Node[] => [node, ...childrenOf(node).flatMap(within)];

/** The fields of a node that are nodes. */
const fieldsOf = (node: Node): Readonly<Record<string, Node & { readonly name?: string }>> =>
  Object.fromEntries(Object.entries(node).filter(([, value]) => isNode(value)));

/** The names that a pattern binds; a plain name binds itself. */
const boundBy = (pattern: Node): readonly string[] => {
  const { left, argument, value } = fieldsOf(pattern);
  if (pattern.type === 'Identifier') return [String(Object(pattern).name)];
  const inner = value ?? left ?? argument;
  if (inner) return boundBy(inner);
  return /Pattern$/.test(pattern.type) ? childrenOf(pattern).flatMap(boundBy) : [];
};

/** The names of variables, parameters and functions that a node declares. */
const declaredBy = (node: Node): readonly string[] => {
  const { id, param } = fieldsOf(node);
  const { params = [] } = node as { readonly params?: readonly Node[] };
  return [id ?? [], param ?? [], params].flat().flatMap(boundBy);
};

/** The names in a node that only name a property. */
const propertyNames = (node: Node): readonly (Node | undefined)[] => {
  const { key, property } = fieldsOf(node);
  const { computed, shorthand } = node as { readonly computed?: boolean; shorthand?: boolean };
  return computed || shorthand ? [] : [key, property];
};

const usedIn = (node: Node): readonly string[] => {
  const all = within(node);
  const ignored = new Set(all.flatMap(propertyNames));
  const declared = new Set(all.flatMap(declaredBy));
  const names = all.filter((each) => each.type === 'Identifier' && !ignored.has(each));
  const inOrder = names.toSorted((a, b) => a.start - b.start).flatMap(boundBy);
  return [...new Set(inOrder)].filter((name) => !declared.has(name));
};

const partOf = (statement: Node): Part => {
  const isExported = statement.type.startsWith('Export');
  const declaration = fieldsOf(statement).declaration ?? statement;
  const { declarations: [variable] = [] } = declaration as { declarations?: readonly Node[] };
  const { id, init } = fieldsOf(variable ?? declaration);
  const isTyped = id && fieldsOf(id).typeAnnotation;
  const isArrow = /^(Arrow)?FunctionExpression$/.test(init?.type ?? '') && !isTyped;
  const isFunction = declaration.type === 'FunctionDeclaration';
  return {
    name: id?.name ?? declaration.type,
    kind: isFunction ? 'function' : isArrow ? 'arrow' : 'other',
    isExported,
    runs: !isExported && !id,
    names: usedIn(statement),
  };
};

/**
 * The places where a file cannot be read from top to bottom: exports and statements that run come first, and each
 * helper follows the code that uses it, in the order of use. Constants and typed arrows are placed where they are
 * evaluated.
 */
const findingsIn = (source: string): readonly string[] => {
  const statements: readonly Node[] = parseAst(source, { lang: 'ts' }).body;
  const parts = statements
    .filter(({ type }) => type !== 'ImportDeclaration' && type !== 'ExportAllDeclaration')
    .map(partOf);
  const arrows = parts.filter(({ kind }) => kind === 'arrow');
  const helpers = parts.filter(({ kind, isExported }) => kind !== 'other' && !isExported);
  const placeOf = (part: Part) => parts.indexOf(part);
  const usersOf = (helper: Part) =>
    parts.filter((part) => part !== helper && part.names.includes(helper.name));

  const [first] = helpers;
  const late = parts.filter(
    (part) => first && (part.isExported || part.runs) && placeOf(part) > placeOf(first),
  );
  const early = helpers.filter((helper) => {
    const users = usersOf(helper);
    return users.length > 0 && users.every((user) => placeOf(user) > placeOf(helper));
  });
  const swapped = parts.flatMap((part) => {
    // A helper with several users may be anywhere below the first of them.
    const own = part.names.flatMap((name) =>
      helpers.filter((helper) => helper.name === name && usersOf(helper).length === 1),
    );
    return own.filter((helper, i) => {
      const previous = own[i - 1];
      return previous && placeOf(helper) < placeOf(previous);
    });
  });
  return [
    ...arrows.map(({ name }) => `${name} is an arrow`),
    ...late.map(({ name }) => `${name} is below the helper ${first?.name}`),
    ...early.map(({ name }) => `${name} is above all code that uses it`),
    ...swapped.map(({ name }) => `${name} is above a helper that is used before it`),
  ];
};

it('Every file of lib, infra and functions has its exports first, and uses function declarations', () => {
  const found = files.flatMap((file) =>
    findingsIn(readFileSync(file, 'utf8')).map((finding) => `${file}: ${finding}`),
  );

  expect(files.length).toBeGreaterThan(250);
  expect(found).toEqual([]);
});

it.each([
  ['const a = () => 1;', 'a is an arrow'],
  ['export const a = async <T>(one: T) => one;', 'a is an arrow'],
  ['const a = function () {};', 'a is an arrow'],
  ['function a() {}\nexport function b() { a(); }', 'b is below the helper a'],
  ['function a() {}\nexport const b = a();', 'b is below the helper a'],
  ['function a() {}\nexport interface B {}', 'B is below the helper a'],
  ['function a() {}\na();', 'ExpressionStatement is below the helper a'],
  [
    'export const c = 1;\nfunction a() {}\nfunction b() { a(); }\nb();',
    'b is above all code that uses it',
  ],
  ['function a() {}\nconst b = { a };', 'a is above all code that uses it'],
  [
    'export function a() { return c(b); }\nfunction b() {}\nfunction c() {}',
    'b is above a helper that is used before it',
  ],
  [
    'export class A { b() { return d({ c: c }); } }\nfunction c() {}\nfunction d() {}',
    'c is above a helper that is used before it',
  ],
])('A file with %j is reported, because %s', (source, finding) => {
  expect(findingsIn(source)).toContain(finding);
});

it.each([
  "import { b } from './b.ts';\nexport function a() { return b(c()); }\nfunction c() {}",
  'export const a: Handler = async () => b();\nfunction b() {}',
  'export const a = endpoint(() => b());\nfunction b() {}',
  'const limit = 1;\nconst table = { a: () => limit };\nexport const b = table.a;',
  'export function a() { return b(c); }\nfunction b() { return c(); }\nfunction c() {}',
  'export function a() { b(); d(); }\nfunction b() { c(); }\nfunction c() {}\nfunction d() {}',
  'export function a() { b(); d(); }\nfunction b() { c(); }\nfunction d() {}\nfunction c() {}',
  'export function a(c = 1) { b({ d: c }, this.c); }\nfunction b() {}\nfunction c() {}',
  "export * from './a.ts';\na();\nfunction a() {}",
])('A file with %j is not reported', (source) => {
  expect(findingsIn(source)).toEqual([]);
});
