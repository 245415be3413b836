/** The one declaration file of the package: what the compiler says of the construct, and its settings. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Setting } from '../../lib/ground/setting.ts';
import { deploymentSettings, type JsonName } from '../deployment-settings.ts';

/**
 * The text of the declaration file.
 * @param root the root of the repository
 * @param folder an empty one, in which the compiler writes
 */
export function declarationOf(root: string, folder: string): string {
  const config = join(folder, 'tsconfig.json');
  const outDir = join(folder, 'out');
  const emitting = { noEmit: false, declaration: true, emitDeclarationOnly: true, outDir };
  const compilerOptions = {
    ...emitting,
    rootDir: root,
    typeRoots: [`${root}/node_modules/@types`],
  };
  const files = [join(root, 'infra/stack/accounts.ts')];
  const written = { extends: join(root, 'tsconfig.json'), compilerOptions, files, include: [] };
  writeFileSync(config, JSON.stringify(written));
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const declared = readFileSync(join(outDir, 'infra/stack/accounts.d.ts'), 'utf8');
  const own = /^import .* from '\.\.?\/.*';\n/gm;
  const meanings = meaningsIn(readFileSync(join(root, 'infra/settings.md'), 'utf8'));
  return `${declared.replaceAll(own, '')}${settingsInterface(meanings)}`;
}

/** The meaning of each setting, from the tables of the settings page. */
function meaningsIn(page: string): ReadonlyMap<string, string> {
  const rows = page.matchAll(/^\| .*`(\w+)` \| .* \| .* \| (.*) \|$/gm);
  const plain = (text: string) => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return new Map([...rows].map(([, name = '', meaning = '']) => [name, plain(meaning)]));
}

function settingsInterface(meanings: ReadonlyMap<string, string>): string {
  const lines = Object.entries<Setting>(deploymentSettings).flatMap(([name, setting]) => [
    '    /**',
    `     * ${meanings.get(name)}`,
    ...(setting.default ? ['     *', `     * @default ${setting.default}`] : []),
    '     */',
    `    readonly ${name}?: ${typeOf(name, setting)} | undefined;`,
  ]);
  return [
    '/** The settings of a deployment; in stage production some have stricter defaults. */',
    'export interface AccountsSettings {',
    ...lines,
    '}',
    '',
  ].join('\n');
}

const jsonTypes: Readonly<Record<JsonName, string>> = {
  tags: 'Readonly<Record<string, string>>',
  identityProviders:
    'readonly { readonly issuer: string; readonly audiences: readonly string[] }[]',
  passkeys: '{ readonly rpId: string; readonly origins: readonly string[] }',
};

function typeOf(name: string, { allowed }: Setting): string {
  if ('rule' in allowed) return allowed.isJson ? jsonTypes[name as JsonName] : 'string';
  const literal = (value: string | number) =>
    typeof value === 'string' ? `'${value}'` : String(value);
  if (!('from' in allowed)) return allowed.map(literal).join(' | ');
  return typeof allowed.or === 'string' ? `number | ${literal(allowed.or)}` : 'number';
}
