import { readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startKms } from '../../support/kms.ts';
import {
  operate,
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';
import { arn, awsForThisTest } from './aws.ts';

/** They may have been valid for a day while the key before signed. */
const shortTokens = { TOKEN_MINUTES: '5', SESSION_DAYS: '1' };

/** It uses the tables of each service on AWS, and a secret signs its own tokens. */
const tables = await operatedServiceForThisFile();

/** A service on this machine, or what there is of one on AWS, and the stages of its keys. */
const prepare = {
  local: async () => {
    const service = await operatedServiceForThisTest({ TOKEN_SIGNING: 'RS256', ...shortTokens });
    const fileOf = (stage: string) => join(service.folder, `token-key-${stage}`);
    const age = (stage: string, minutes: number) => {
      const since = Date.now() / 1000 - minutes * 60;
      utimesSync(fileOf(stage), since, since);
    };
    const stages = () => {
      const files = readdirSync(service.folder).filter((name) => name.startsWith('token-key-'));
      expect(files.every((name) => statSync(join(service.folder, name)).mode % 0o100 === 0)).toBe(
        true,
      );
      return files
        .map((name) => name.slice(10))
        .filter((name) => name !== 'first')
        .sort();
    };
    const { operate: run, entries } = service;
    return { run, entries, age, stages, refuse: (_: string) => {}, operator: {} };
  },
  stack: async () => {
    const before = (await tables.entries()).length;
    const kms = await startKms();
    onTestFinished(kms.stop);
    const names = 'alias/accounts/token-signing-';
    const keys = { TOKEN_SIGNING: 'RS256', TOKEN_KEYS: names, TOKEN_SIGNING_KEY: kms.makeKey() };
    const settings = { ...keys, ...shortTokens };
    const aws = await awsForThisTest(tables, { Settings: settings });
    const environment = { ...aws.environment, ...kms.environment };
    const age = (stage: string, minutes: number) => {
      kms.place(names + stage, kms.aliases.get(names + stage)?.key, Date.now() - minutes * 60_000);
    };
    return {
      run: (args: readonly string[]) => operate([...args, '--stack=accounts'], { environment }),
      entries: async () => (await tables.entries()).slice(before),
      age,
      stages: () => {
        // The first key is the stack's; one that the command made goes with its last alias.
        const used = [...kms.aliases.values()].map(({ key }) => key);
        expect(kms.keys.size).toBe(
          new Set([keys.TOKEN_SIGNING_KEY.replace(/.*\//, ''), ...used]).size,
        );
        return [...kms.aliases.keys()].map((name) => name.slice(names.length)).sort();
      },
      refuse: (begin: string) => {
        kms.fault = (request) =>
          begin && request.startsWith(begin) ? 'AccessDeniedException' : undefined;
      },
      operator: { operator: arn },
      kms,
    };
  },
};

type Run = Awaited<ReturnType<typeof prepare.local>>['run'];
/** Runs the command with some options. @returns its status and what it printed */
const rotate = async (run: Run, ...options: readonly string[]) => {
  const { status, stdout, stderr } = await run(['rotate-signing-key', ...options]);
  return `${status} ${stdout}${stderr}`;
};

/** Minutes for which a stage is as it is; or options, what is printed first, and what there is then. */
const steps: readonly (readonly [string, number] | readonly [string[], string, string[]?])[] = [
  [['--sign'], '1 No key is published'],
  [['--retire'], '1 There is no previous key'],
  [[], '0 Published the key K, which signs nothing yet.\nNext: --sign, from T on'],
  [[], '1 The key K is published already. Next: --sign, from T on'],
  [['--sign', '--now'], '1 It is too early. Run this from T on'],
  ['next', 119],
  [['--sign'], '1 It is too early. Run this from T on'],
  ['next', 120],
  [
    ['--sign'],
    '0 The key K signs, in all functions from T on.\nNext: --retire, from T on',
    ['current', 'next', 'previous'],
  ],
  [['--sign'], '1 The key K signs already. Next: --retire, from T on'],
  [[], '1 The previous key is still published: run --retire first'],
  ['current', 1445],
  [['--retire'], '1 It is too early. Run this from T on'],
  ['current', 1446],
  [['--retire'], '0 Tokens of the key K are refused from T on', ['current']],
];

describe.each(['local', 'stack'] as const)('rotate-signing-key, %s,', (place) => {
  it('takes three steps, twice, each refused until it is due, and leaves entries', async () => {
    const { run, entries, age, stages, operator } = await prepare[place]();
    const kids: string[] = [];
    for (const [options, expected, left] of [...steps, ...steps]) {
      if (typeof expected === 'number') {
        age(String(options), expected);
        continue;
      }
      const said = await rotate(run, ...options);
      kids.push(...[...(/^0.* key ([\w-]{43})/.exec(said) ?? [])].slice(1));
      const plain = said.replace(/key [\w-]{43}/g, 'key K').replace(/2\d{3}-[\dT:-]+Z/g, 'T');
      expect(plain.slice(0, expected.length)).toBe(expected);
      expect(stages()).toEqual(left ?? stages());
      expect(said).not.toContain('PRIVATE');
    }
    expect([kids[1], kids[4], kids[5]]).toEqual([kids[0], kids[3], kids[0]]);
    const actions = ['CREATE', 'UPDATE', 'DELETE', 'CREATE', 'UPDATE', 'DELETE'] as const;
    const common = { resource: 'signing-key', details: operator } as const;
    expect(await entries()).toMatchObject(
      actions.map((action, at) =>
        operatorEntry('rotate-signing-key', { ...common, action, resource_id: kids[at] ?? '' }),
      ),
    );
  });

  it('lets a lost key be replaced within minutes, with --now', async () => {
    const { run, age, stages } = await prepare[place]();
    const publish = await rotate(run);
    age('next', 5);
    const others = [await rotate(run, '--sign', '--now'), await rotate(run, '--retire', '--now')];

    expect([publish, ...others].map((said) => said[0])).toEqual(['0', '0', '0']);
    expect(stages()).toEqual(['current']);
  });
});

it('rotate-signing-key --sign makes one change, so that whoever reads keys meanwhile lacks none', async () => {
  const { run, age, kms } = await prepare.stack();
  const writes = () => kms.requests.splice(0).filter((request) => /^(?!List).*Alias/.test(request));
  for (const _ of ['the first rotation', 'the second']) {
    await rotate(run);
    age('next', 120);
    writes();
    await rotate(run, '--sign');
    const [first, ...others] = new Set(writes().map((request) => request.replace(/.*-/, '')));
    expect([first, others]).toEqual(['current', []]);
    await rotate(run, '--retire', '--now');
  }
});

it.each([
  ['CreateAlias alias/accounts/token-signing-next', ['publish']],
  ['CreateAlias alias/accounts/token-signing-current', ['--sign']],
  ['DeleteAlias', ['--retire', '--now']],
  ['DeleteAlias alias/accounts/token-signing-previous', ['--retire', '--now']],
])('rotate-signing-key does what is left of a step in which %s failed', async (failing, [step]) => {
  const { run, age, refuse } = await prepare.stack();
  const said: string[] = [];
  for (const options of [[], ['--sign'], ['--retire', '--now']]) {
    if (step === (options[0] ?? 'publish')) {
      refuse(failing);
      said.push(await rotate(run, ...options));
      refuse('');
    }
    said.push(await rotate(run, ...options));
    if (!options.length) age('next', 120);
  }

  expect(said.map(([status]) => status).sort()).toEqual(['0', '0', '0', '1']);
});

it('rotate-signing-key publishes one key, where two operators make one at the same time', async () => {
  const { run, kms, stages } = await prepare.stack();
  const next = 'alias/accounts/token-signing-next';
  const other = kms.makeKey();
  kms.fault = (request) => {
    if (request === `CreateAlias ${next}`) kms.place(next, other);
    return undefined;
  };

  expect(await rotate(run)).toMatch(/^1 /);
  expect(kms.aliases.get(next)?.key).toBe(other.replace(/.*\//, ''));
  // The key that is in no stage is not kept.
  expect(stages()).toContain('next');
});

it('rotate-signing-key is refused where a secret signs, and with two steps at once', async () => {
  const { operate: run } = tables;

  expect(await rotate(run)).toMatch(/^1 A secret signs the tokens of this service/);
  expect(await rotate(run, '--sign', '--retire')).toMatch(/^2 Give --sign or --retire, not both/);
});
