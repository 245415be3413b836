/** The only declaration file of the package: the compiler's declarations of the construct, and its settings. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Setting } from '../../lib/ground/setting.ts';
import { deploymentSettings, type JsonName, type Name, names } from '../deployment-settings.ts';
import { jsonTypes, meanings, withoutLinks } from '../meanings.ts';

/**
 * The text of the declaration file.
 * @param root the root of the repository
 * @param folder an empty folder, into which the compiler writes
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
  return `${declared.replaceAll(own, '')}${settingsInterface()}`;
}

function settingsInterface(): string {
  const lines = names.flatMap((name) => {
    const setting: Setting = deploymentSettings[name];
    return [
      '    /**',
      `     * ${withoutLinks(meanings[name])}`,
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

function typeOf(name: Name, { allowed }: Setting): string {
  if ('rule' in allowed) return allowed.isJson ? jsonTypes[name as JsonName] : 'string';
  const literal = (value: string | number) =>
    typeof value === 'string' ? `'${value}'` : String(value);
  if (!('from' in allowed)) return allowed.map(literal).join(' | ');
  return typeof allowed.or === 'string' ? `number | ${literal(allowed.or)}` : 'number';
}
