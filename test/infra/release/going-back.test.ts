/** That whoever has updated can go back to the release before, with its own code and its own packages. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { versions } from '../../settings/released/fixture.ts';
import { folderForThisFile } from '../../support/folder.ts';
import { resourcesOf, synthesise } from '../stack/template.ts';

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 }).trim();

/** The newest release, or the one before where the version at hand is about to be the newest. */
const before = (() => {
  const inOrder = versions.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const isReleased = !/^## Unreleased/m.test(readFileSync('.github/CHANGELOG.md', 'utf8'));
  return inOrder.at(isReleased ? -2 : -1) ?? inOrder[0] ?? expect.unreachable();
})();

/** The commit that wrote what the release stores. @throws {Error} without the history */
const commitOf = (version: string): string => {
  if (git('rev-parse', '--is-shallow-repository') !== 'false') {
    throw new Error('The history of the repository is missing: run git fetch --unshallow');
  }
  const commit = git('log', '-1', '--format=%H', '--', `test/settings/released/${version}`);
  if (!commit) throw new Error(`No commit of the history has written what ${version} stores`);
  return commit;
};
const commit = commitOf(before);
const show = (path: string) => git('show', `${commit}:${path}`);

it('The changelog says whether one can go back from the newest version', () => {
  const [, newest] = readFileSync('.github/CHANGELOG.md', 'utf8').split(/^## /m);

  expect(newest).toMatch(/\b(go|going) back\b/i);
});

describe('Each table', () => {
  /** The indexes in the reviewed text of the stack that a release had. */
  const indexesBefore = (table: string): readonly string[] => {
    const text = show('test/infra/stack/reviewed/everything-resources.txt');
    const [, resource = ''] = new RegExp(`^  ${table}\n(.*?)^ {0,2}\\S`, 'ms').exec(text) ?? [];
    return [...resource.matchAll(/IndexName: (\w+)/g)].map(([, name = '']) => name);
  };

  it.each(['UsersTable', 'AuditTable'])(
    'has at most one index more than in the release before: %s',
    (id) => {
      const { GlobalSecondaryIndexes } =
        resourcesOf(synthesise(), 'AWS::DynamoDB::Table').get(id)?.Properties ??
        expect.unreachable();
      const names: readonly string[] = GlobalSecondaryIndexes.map(
        ({ IndexName }: { IndexName: string }) => IndexName,
      );
      const released = indexesBefore(id);

      expect(released.length).toBeGreaterThan(1);
      expect(names.slice(0, released.length)).toEqual(released);
      expect(names.length - released.length).toBeLessThanOrEqual(1);
    },
  );
});

describe(`The release before, ${before}`, () => {
  const folder = folderForThisFile();
  const written = join(folder, 'written');
  const release = join(folder, 'release');
  const suite = 'test/settings/released/released.settings.test.ts';

  const run = (cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string => {
    const { status, stdout, stderr } = spawnSync('npm', args, {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, NODE_COMPILE_CACHE: '', VITEST: '', REPORT: 'going-back', ...env },
    });
    if (status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stdout}\n${stderr}`);
    return stdout;
  };

  /** A line of what users know, without fields that the responses of the release do not have yet. */
  const asReleased = (line: string): string => {
    const [name, known] = JSON.parse(line || '[]');
    if (name !== 'overview') return line;
    const contract = show('functions/openapi.json');
    const isOfContract = (key: string) => /^\d*$/.test(key) || contract.includes(`"${key}":`);
    const parts = ['users', 'details', 'entries'].map((part) => [
      part,
      JSON.parse(JSON.stringify(known[part]), (key, value) =>
        isOfContract(key) ? value : undefined,
      ),
    ]);
    return JSON.stringify([name, { ...known, ...Object.fromEntries(parts) }]);
  };

  it('finds all data that this version stores under its settings, and works with the data', () => {
    const known = new Set(show('infra/settings.md').match(/(?<=`)[A-Z][A-Z_]+(?=`)/g));
    const env = { FIXTURE: written, KNOWN_SETTINGS: [...known].join() };
    run('.', ['test', '--', 'test/settings/released/stored-kinds.settings.test.ts'], env);

    mkdirSync(release);
    const archive = execFileSync('git', ['archive', commit], { maxBuffer: 2 ** 28 });
    writeFileSync(join(folder, 'release.tar'), archive);
    execFileSync('tar', ['-xf', join(folder, 'release.tar'), '-C', release]);
    run(release, ['ci', '--prefer-offline', '--no-audit', '--no-fund']);
    const place = join(release, 'test/settings/released/written');
    cpSync(written, place, { recursive: true });
    const users = join(place, 'known.ndjson');
    const lines = readFileSync(users, 'utf8').split('\n');
    writeFileSync(users, lines.map(asReleased).join('\n'));
    run(release, ['test', '--', suite, '-t', 'Of what written has stored']);

    const report = JSON.parse(readFileSync(join(release, '.reports/going-back.json'), 'utf8'));
    expect(report.numFailedTests).toBe(0);
    expect(report.numPassedTests).toBeGreaterThan(20);
  }, 3_600_000);
});
