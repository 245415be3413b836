import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Option, options } from './options.ts';

/** The rooms of lib from the ground up: each may import those before it. */
const lib = [
  'lib/ground',
  'lib/dynamodb',
  'lib/audit',
  'lib/users',
  'lib/keys',
  'lib/options',
  'lib/accounts',
  'lib/contract',
  'lib/http',
];
/** The rooms of the console, also from the ground up: its data, the rules of the trail, components, and screens. */
const web = [
  'functions/console/web',
  'functions/console/web/trail',
  'functions/console/web/components',
  'functions/console/web/screens',
  'functions/console/web/main.tsx',
];
/** Code that the pages share with the function that serves them, and with apps. */
const served = ['functions/console/page-data.ts', 'functions/console/mark.ts', 'functions/client'];

/** The stack reads definitions and calls nothing. */
const definitions = [
  'functions/contracts.ts',
  'lib/contract/contract.ts',
  'lib/dynamodb/tables.ts',
  'lib/ground/attribute.ts',
  'lib/ground/log.ts',
  'lib/ground/rules.ts',
  'lib/ground/setting.ts',
  'lib/ground/settings.ts',
];

/** The rooms and single files that each room may import, besides its own files. */
const floors: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(lib.map((room, floor) => [room, lib.slice(0, floor)])),
  'lib/seal': ['lib/ground', 'lib/dynamodb', 'lib/audit', 'lib/keys'],
  functions: [...lib, 'functions/audit-seal/contract.ts'],
  'functions/audit-seal': [...lib, 'lib/seal', 'functions/audit-logs/contract.ts'],
  'functions/background': [...lib, 'lib/seal'],
  // Apps install it: it has nothing of the service.
  'functions/client': [],
  ...Object.fromEntries(web.map((room, floor) => [room, [...served, ...web.slice(0, floor)]])),
  // A component may show another one whose code is loaded at its first use, as the code of some screens is.
  'functions/console/web/components': [
    ...[...served, ...web.slice(0, 2)],
    'functions/console/web/screens/on-demand.tsx',
  ],
  infra: ['infra/stack', 'cdk.json', ...definitions],
  'infra/stack': ['infra', ...definitions],
  'infra/package': ['infra', 'infra/stack', ...definitions],
  'infra/local': ['infra', ...lib, 'lib/seal'],
  // The command check-deployment compares responses with the contracts, and create-machine has the rules of a body.
  'infra/operator': [
    ...['infra', 'infra/local', 'functions/contracts.ts', 'functions/machines/contract.ts'],
    ...[...lib, 'lib/seal'],
  ],
};

/** Packages that only these rooms import. */
const packages = [
  [/^node:/, (room: string) => ![...web, 'functions/client'].includes(room)],
  [/^react$/, (room: string) => room === 'functions/client'],
  [/^(aws-cdk-lib|constructs)/, (room: string) => room === 'infra' || room === 'infra/stack'],
] as const;

/** The room of a file: the innermost folder that has a row in {@link floors}, or the file itself if it has one. */
const roomOf = (file: string): string => {
  if (Object.hasOwn(floors, file)) return file;
  const folder = dirname(file);
  return Object.hasOwn(floors, folder) || folder === '.' ? folder : roomOf(folder);
};

interface Import {
  readonly names: string;
  /** A path within the repository, or a package. */
  readonly path: string;
}

/** The imports and re-exports of a file, static and dynamic, of values and of types. */
const importsOf = (file: string, source = readFileSync(file, 'utf8')): readonly Import[] => {
  const statements = /(?:^(?:im|ex)port\s+(?:([^;']*?)from\s+)?|\bimport\(\s*)'([^']+)'/gm;
  return [...source.matchAll(statements)].map(([, names = '', path = '']) => ({
    names,
    path: path.startsWith('.') ? join(dirname(file), path) : path,
  }));
};

const isAllowed = (file: string, imported: string): boolean => {
  const room = roomOf(file);
  const limited = packages.find(([names]) => names.test(imported));
  if (limited) return limited[1](room);
  if (!/\.\w+$/.test(imported)) return true;
  const other = roomOf(imported);
  return other === room || [other, imported].some((name) => floors[room]?.includes(name));
};

/** The imports of a file that lead up. */
const forbidden = (file: string, source?: string): readonly string[] =>
  importsOf(file, source).flatMap(({ path }) => (isAllowed(file, path) ? [] : [path]));

describe('Imports lead only down', () => {
  const files = globSync('{functions,infra,lib}/**/*.{js,ts,tsx}');

  it.each(Object.keys(floors))('in %s', (room) => {
    const here = files.filter((file) => roomOf(file) === room);

    expect(here).not.toEqual([]);
    expect(here.flatMap((file) => forbidden(file).map((path) => [file, path]))).toEqual([]);
  });

  it.each([
    ['functions/users/get.ts', '../../infra/uses.ts', '../../lib/users/store.ts'],
    ['functions/users/list.ts', 'aws-cdk-lib/aws-s3', 'node:crypto'],
    ['functions/users/contract.ts', '../../infra/handler-uses.ts', '../auth/contract.ts'],
    ['infra/handler-uses.ts', '../functions/users/update.ts', './permissions.ts'],
    ['functions/console/web/screens/user.tsx', '../../page.ts', '../../page-data.ts'],
    ['functions/console/web/trail/read.ts', '../components/text.tsx', '../api.ts'],
    ['functions/console/web/components/text.tsx', '../screens/user.tsx', '../trail/query.ts'],
    ['functions/console/web/router.ts', './trail/query.ts', './store.ts'],
    ['functions/console/web/screens/user.tsx', '../main.tsx', '../components/text.tsx'],
    ['functions/console/web/api.ts', 'node:crypto', 'preact'],
    ['functions/console/web/api.ts', '../contract.ts', '../../client/index.ts'],
    ['functions/client/passkeys.ts', '../passkeys/contract.ts', './api.ts'],
    ['lib/users/store.ts', '../keys/token.ts', '../dynamodb/client.ts'],
  ])('%s may not import %s, and may import %s', (file, above, below) => {
    expect(forbidden(file, `import { a } from '${below}';`)).toEqual([]);
    expect(forbidden(file, `import { a } from '${above}';`)).toHaveLength(1);
  });

  it.each([
    "import type { A } from '../../infra/uses.ts';",
    "import {\n  a,\n  b as c,\n} from '../../infra/uses.ts';",
    "import * as a from '../../infra/uses.ts';",
    "import '../../infra/uses.ts';",
    "export { a } from '../../infra/uses.ts';",
    "export * from '../../infra/uses.ts';",
    "const { a } = await import('../../infra/uses.ts');",
    "const a: import('../../infra/uses.ts').A = 1;",
  ])('also in a file with %j', (statement) => {
    expect(forbidden('functions/users/get.ts', `${statement}\n`)).toEqual(['infra/uses.ts']);
  });
});

it('Only one file issues tokens, so that each token says the role of its session', () => {
  const files = globSync('{functions,infra,lib}/**/*.{ts,tsx}');
  const issues = ({ names }: Import) => /\bissueToken\b/.test(names);

  expect(files.filter((file) => importsOf(file).some(issues))).toEqual([
    'lib/options/sessions/session-tokens.ts',
  ]);
});

/** A file of source without its comments. */
const codeOf = (file: string): string =>
  readFileSync(file, 'utf8').replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, '');

describe('The list of the code that an option touches outside its rooms', () => {
  const files = globSync('{functions,infra,lib}/**/*.ts', {
    exclude: ['functions/client/**', 'functions/console/web/**'],
  });
  const room = (name: string) => `lib/options/${name}/`;
  const hasRoom = (name: string) => !options[name]?.isInPolicy;
  const isOfOption = (file: string) => file.startsWith('lib/options/');

  it('has every option that has a room', () => {
    const folders = new Set(files.filter(isOfOption).map((file) => file.split('/')[2]));
    expect([...folders].sort()).toEqual(Object.keys(options).filter(hasRoom).sort());
  });

  const touchedBy = ([name, { handlers, fields }]: [string, Option]): readonly string[] => {
    const rooms = [room(name), ...handlers.map((own) => `functions/${own}`)];
    const imports = (file: string) => importsOf(file).map(({ path }) => path);
    const isOwn = (path: string) => path.startsWith(room(name));
    const needed = files.filter(isOwn).flatMap(imports).filter(isOfOption);
    const others = needed.filter((path) => !isOwn(path)).map((path) => path.split('/')[2]);
    const outside = files.filter((file) => !rooms.some((own) => file.startsWith(own))).sort();
    const importers = outside.filter((file) => imports(file).some(isOwn));
    const namers = fields ? outside.filter((file) => fields.test(codeOf(file))) : [];
    return [
      name,
      ...[...new Set(others)].sort().map((other) => `  needs ${other}`),
      ...importers.map((file) => `  is imported by ${file}`),
      ...namers.map((file) => `  is named by ${file}`),
    ];
  };

  it('equals reviewed-options.txt, so that a review sees each addition: `--update` writes the list', async () => {
    const lines = Object.entries(options).flatMap(touchedBy);

    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('reviewed-options.txt');
  });
});

/** The files of the project that are loaded with one of them. An import of types loads nothing. */
const loadedWith = (file: string): ReadonlySet<string> => {
  const loaded = new Set([file]);
  const isValue = ({ names, path }: Import) =>
    path.endsWith('.ts') && /^(?!type )(?:[^{]|.*[{,]\s*(?!type\b)\w)/s.test(names);
  // The set grows while it is walked.
  for (const each of loaded) {
    for (const { path } of importsOf(each).filter(isValue)) loaded.add(path);
  }
  return loaded;
};

it.each([
  ['a login', 'functions/auth/login.ts', 54],
  ['a change of a user', 'functions/users/update.ts', 64],
])('A reader who follows %s (%s) opens at most %i files', (_, file, most) => {
  const loaded = loadedWith(file);

  expect(loaded).toContain('lib/http/endpoint.ts');
  expect([...loaded].length).toBeLessThanOrEqual(most);
});
