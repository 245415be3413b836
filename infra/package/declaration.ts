/** The only declaration file of the package: the compiler's declarations of the construct, and its settings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Setting } from '../../lib/ground/setting.ts';
import { deploymentSettings, type JsonName, type Name, names } from '../deployment-settings.ts';
import { readMeanings } from '../meanings.ts';
import { temporaryFolder } from '../stack/bundling/temporary-folder.ts';
import { compile, root } from './packing.ts';

export function makeDeclaration(): string {
  const outDir = temporaryFolder();
  compile(['infra/stack/accounts.ts'], { emitDeclarationOnly: true, rootDir: root, outDir });
  const declared = readFileSync(join(outDir, 'infra/stack/accounts.d.ts'), 'utf8');
  const own = /^import .* from '\.\.?\/.*';\n/gm;
  return `${declared.replaceAll(own, '')}${settingsInterface()}`;
}

function settingsInterface(): string {
  const meanings = readMeanings();
  const lines = names.flatMap((name) => {
    const setting: Setting = deploymentSettings[name];
    return [
      '    /**',
      `     * ${meanings[name]}`,
      ...(setting.default ? ['     *', `     * @default ${setting.default}`] : []),
      '     */',
      `    readonly ${name}?: ${typeOf(name, setting)} | undefined;`,
    ];
  });
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
  userAttributes:
    "readonly { readonly name: string; readonly type: 'text' | 'number' | 'boolean' | 'choice' | 'date'; readonly maxLength?: number; readonly choices?: readonly string[]; readonly writer?: 'user' | 'admin'; readonly token?: boolean }[]",
};

function typeOf(name: Name, { allowed }: Setting): string {
  if ('rule' in allowed) return allowed.isJson ? jsonTypes[name as JsonName] : 'string';
  const literal = (value: string | number) =>
    typeof value === 'string' ? `'${value}'` : String(value);
  if (!('from' in allowed)) return allowed.map(literal).join(' | ');
  return typeof allowed.or === 'string' ? `number | ${literal(allowed.or)}` : 'number';
}
