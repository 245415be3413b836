/**
 * The notices of third parties, which the licences of packages require, because bundles and pages contain code of these
 * packages.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Package {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly texts: readonly string[];
}

/**
 * The licences and notices of packages, each text once.
 * @param files the paths of bundled files; files outside node_modules are ignored
 * @throws {Error} for a package that has no licence
 */
export function noticesOf(files: readonly string[]): string {
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  const packages = [...new Set(folders)].map(packageIn);
  const titled = packages.flatMap((one) => {
    const texts = one.texts.length > 0 ? one.texts : [textOf(one, packages)];
    return texts.map((text) => ({ text, title: `${one.name} ${one.version}` }));
  });
  return [...Map.groupBy(titled, ({ text }) => text)]
    .map(([text, those]) => [...those.map(({ title }) => title), '', text].join('\n'))
    .join(`\n\n${'-'.repeat(72)}\n\n`);
}

function packageIn(folder: string): Package {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const texts = readdirSync(folder)
    .filter((name) => /\b(?:licen[cs]e|notice|copying)\b/i.test(name))
    .map((name) => read(name).replaceAll('\r', '').trim());
  return { ...JSON.parse(read('package.json')), folder, texts };
}

/** The first words of the standard licences. In different packages, their texts differ only in the copyright holder. */
const beginnings: Readonly<Record<string, string>> = {
  MIT: 'Permission is hereby granted',
  'Apache-2.0': 'Apache License',
};

/**
 * The licence of a package without a licence file: the readme of the package names the rights; another package has the
 * text.
 */
function textOf({ folder, name, license }: Package, all: readonly Package[]): string {
  const beginning = beginnings[license];
  const same = all.filter((one) => one.license === license).flatMap(({ texts }) => texts);
  const other = same.find((text) => beginning && text.includes(beginning));
  if (!beginning || !other) throw new Error(`The package ${name} has no text of its licence`);
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const [, rights = ''] = readme.split(/^#+ licen[cs]e\s*$/im);
  return `${rights}\n\n${other.slice(other.indexOf(beginning))}`.trim();
}
