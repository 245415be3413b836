import { describe, expect, it } from 'vitest';
import { operatedServiceForThisFile, operatorEntry } from '../../support/operator.ts';
import { alias, localKeys, stackKeys } from './signing-keys.ts';

const tables = await operatedServiceForThisFile();
const places = { local: localKeys, stack: () => stackKeys(tables) };

interface Step {
  /** A stage, and the minutes for which it has been as it is. */
  readonly since?: readonly [stage: string, minutes: number];
  readonly options: readonly string[];
  /** The status, and how what is printed begins, with K for a key and T for a time. */
  readonly says: string;
  /** The stages that there are then; a step that is refused leaves them as they are. */
  readonly leaves?: readonly string[];
}

const published = '0 Published the key K, which signs nothing yet.\nNext: --sign, from T on';
const signs = '0 The key K signs, in all functions from T on.\nNext: --retire, from T on';
const tooEarly = '1 It is too early. Run the command from T on';

// biome-ignore format: a table
const steps: readonly Step[] = [
  { options: ['--sign'], says: '1 No key is published' },
  { options: ['--retire'], says: '1 There is no previous key' },
  { options: [], says: published },
  { options: [], says: '1 The key K is published already. Next: --sign, from T on' },
  { options: ['--sign', '--now'], says: tooEarly },
  { since: ['next', 119], options: ['--sign'], says: tooEarly },
  { since: ['next', 120], options: ['--sign'], says: signs, leaves: ['current', 'next', 'previous'] },
  { options: ['--sign'], says: '1 The key K signs already. Next: --retire, from T on' },
  { options: [], says: '1 The previous key is still published: run --retire first' },
  { since: ['current', 1445], options: ['--retire'], says: tooEarly },
  { since: ['current', 1446], options: ['--retire'], says: '0 Tokens of the key K are refused from T on', leaves: ['current'] },
];

const withoutNames = (said: string) =>
  said.replace(/key [\w-]{43}/g, 'key K').replace(/2\d{3}-[\dT:-]+Z/g, 'T');

/** The key that a step which is taken names. */
const kidsIn = (said: string) => /^0.* key ([\w-]{43})/.exec(said)?.slice(1) ?? [];

describe.each(['local', 'stack'] as const)('rotate-signing-key, %s,', (place) => {
  it('takes three steps in each of two rotations, refuses each step until it is due, and leaves entries', async () => {
    const { rotate, age, stages, entries, operator } = await places[place]();
    const kids: string[] = [];

    for (const { since, options, says, leaves } of [...steps, ...steps]) {
      if (since) age(...since);
      const left = leaves ?? (says.startsWith('1') ? stages() : expect.anything());
      const said = await rotate(...options);
      expect(withoutNames(said).slice(0, says.length)).toBe(says);
      expect(stages()).toEqual(left);
      expect(said).not.toContain('PRIVATE');
      kids.push(...kidsIn(said));
    }

    // The key that was published signs, and the one that signed first is retired; then that one is.
    const [first, , , second] = kids;
    expect(kids).toEqual([first, first, expect.any(String), second, second, first]);
    const actions = ['CREATE', 'UPDATE', 'DELETE', 'CREATE', 'UPDATE', 'DELETE'] as const;
    const common = { resource: 'signing-key', details: operator } as const;
    expect(await entries()).toMatchObject(
      actions.map((action, at) =>
        operatorEntry('rotate-signing-key', { ...common, action, resource_id: kids[at] ?? '' }),
      ),
    );
  });

  it('lets a lost key be replaced within minutes, with --now', async () => {
    const { rotate, age, stages } = await places[place]();

    const publish = await rotate();
    age('next', 5);
    const others = [await rotate('--sign', '--now'), await rotate('--retire', '--now')];

    expect([publish, ...others].map((said) => said[0])).toEqual(['0', '0', '0']);
    expect(stages()).toEqual(['current']);
  });
});

it('rotate-signing-key --sign makes one change, so that at no time a public key is missing', async () => {
  const { rotate, age, kms } = await stackKeys(tables);
  const writes = () => kms.requests.splice(0).filter((request) => /^(?!List).*Alias/.test(request));
  for (const _ of ['the first rotation', 'the second']) {
    await rotate();
    age('next', 120);
    writes();

    await rotate('--sign');

    const [first, ...others] = new Set(writes().map((request) => request.replace(/.*-/, '')));
    expect([first, others]).toEqual(['current', []]);
    await rotate('--retire', '--now');
  }
});

it.each([
  ['CreateAlias alias/accounts/token-signing-next', 'publish'],
  ['CreateAlias alias/accounts/token-signing-current', '--sign'],
  ['DeleteAlias', '--retire'],
  ['DeleteAlias alias/accounts/token-signing-previous', '--retire'],
])('rotate-signing-key completes a step in which %s failed', async (failing, failed) => {
  const { rotate, age, kms } = await stackKeys(tables);
  const said: string[] = [];

  for (const options of [[], ['--sign'], ['--retire', '--now']]) {
    if (failed === (options[0] ?? 'publish')) {
      kms.fault = (request) => (request.startsWith(failing) ? 'AccessDeniedException' : undefined);
      said.push(await rotate(...options));
      kms.fault = () => undefined;
    }
    said.push(await rotate(...options));
    if (!options.length) age('next', 120);
  }

  expect(said.map(([status]) => status).sort()).toEqual(['0', '0', '0', '1']);
});

it('rotate-signing-key publishes one key if two operators make keys at the same time', async () => {
  const { rotate, kms, stages } = await stackKeys(tables);
  const other = kms.makeKey();
  kms.fault = (request) => {
    if (request === `CreateAlias ${alias}next`) kms.place(`${alias}next`, other);
    return undefined;
  };

  expect(await rotate()).toMatch(/^1 /);
  expect(kms.aliases.get(`${alias}next`)?.key).toBe(other.replace(/.*\//, ''));
  // The key that is in no stage is not kept.
  expect(stages()).toContain('next');
});

it('rotate-signing-key refuses to run if a secret signs, and refuses two steps at once', async () => {
  const run = async (...options: readonly string[]) => {
    const { status, stderr } = await tables.operate(['rotate-signing-key', ...options]);
    return `${status} ${stderr}`;
  };

  expect(await run()).toMatch(/^1 A secret signs the tokens of this service/);
  expect(await run('--sign', '--retire')).toMatch(/^2 Give --sign or --retire, not both/);
});
