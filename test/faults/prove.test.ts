/** Each step of a proof reports a sabotage of it, and `--clean` leaves nothing, whatever happened. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Fault,
  type FaultyCall,
  named,
  prove,
  runIn,
  startAccount,
  startFaulty,
} from '../prove/at-emulator.ts';
import { takeInventory } from '../rehearsal/deployment.ts';
import { deployDevelopment, destroyDevelopment } from '../rehearsal/development.ts';
import { certificateFile } from '../rehearsal/edge.ts';
import { sendToSimulator } from '../rehearsal/mail.ts';
import { atEmulator } from '../rehearsal/password-reset.ts';
import type { Proof } from '../rehearsal/proof.ts';
import { steps } from '../rehearsal/steps.ts';
import { folderForThisFile } from '../support/folder.ts';

/** Milliseconds: the test deploys two stacks to the emulator several times. */
const timeout = 3_600_000;

const denied: Fault = { code: 'AccessDenied' };
const isTo =
  (text: string) =>
  ({ target, path }: FaultyCall) =>
    target.endsWith(text) || path.endsWith(text);

/** The sabotage of each step: the calls that are denied, or something else. */
const sabotages: Readonly<
  Record<string, ((call: FaultyCall) => boolean) | 'killed' | 'expired' | 'not done here'>
> = {
  acceptance: isTo('.GetSecretValue'),
  console: isTo('.GetSecretValue'),
  seal: isTo('/invocations'),
  throttles: 'not done here',
  latency: isTo('/configuration'),
  load: 'killed',
  secret: isTo('.PutSecretValue'),
  unchanged: 'expired',
  changed: () => true,
  taken: () => true,
  check: () => true,
  mail: () => true,
  key: isTo('.CreateKey'),
  permissions: isTo('/invocations'),
  destroy: () => true,
  'permissions-of-production': isTo('/invocations'),
  alarm: 'not done here',
  lock: 'not done here',
  pause: isTo('/invocations'),
  events: isTo('.PutRule'),
  restore: isTo('.RestoreTableToPointInTime'),
  update: () => true,
  application: 'not done here',
};

/** Calls that are denied while a stack is deployed: the writes that create the admin of the new stack. */
const ofDeployments: Readonly<Record<string, (call: FaultyCall) => boolean>> = {
  development: isTo('.TransactWriteItems'),
  production: isTo('.TransactWriteItems'),
};

const folder = folderForThisFile();
let account: Awaited<ReturnType<typeof startAccount>>;
beforeAll(async () => {
  account = await startAccount();
}, timeout);
afterAll(() => account.stop());

/** The step that a command is doing, by what it has printed. */
const stepIn = (output: string): string =>
  [...output.matchAll(/^== .*\(([\w-]+)\)$/gm)].at(-1)?.[1] ?? '';

const inventory = () => takeInventory(account.place);

describe('A proof is refused and creates nothing', () => {
  const only = ['--yes', '--only', 'seal'];

  it.each([
    ['without consent', ['--only', 'seal'], 2, 'add --yes if you agree'],
    ['with a step that does not exist', ['--yes', '--only', 'seals'], 2, 'there are acceptance, '],
    [
      'in another account than the given account',
      [...only, '--account', '210987654321'],
      1,
      'choose others by AWS_PROFILE',
    ],
    ['with --resume but without a run', ['--resume'], 1, 'there is no run'],
    ['with --clean but without a run', ['--clean'], 1, 'there is no run'],
    ['with an invalid account id', [...only, '--account', '123'], 2, '--account must be 12 digits'],
  ])('%s', async (_, args, status, sentence) => {
    const ended = await prove([...named(folder), ...args], account.env);

    expect(ended.output).toContain(sentence);
    expect(ended.status).toBe(status);
    expect(runIn(folder)).toBeUndefined();
  });

  it('with the credentials of the root user', async () => {
    const env = { ...account.env, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

    const { output } = await prove([...named(folder), ...only], env);

    expect(output).toContain('credentials of the root user');
    expect(runIn(folder)).toBeUndefined();
  });

  it('if the account may run too few functions', async () => {
    const body = JSON.stringify({ AccountLimit: { ConcurrentExecutions: 10 }, AccountUsage: {} });
    const faulty = await startFaulty(account.port, ({ path }) =>
      path.includes('/account-settings') ? { body } : undefined,
    );

    const { output } = await prove([...named(folder), ...only], { ...account.env, ...faulty.env });
    faulty.stop();

    expect(output).toContain(
      'may run 10 functions at a time in eu-central-1, and the proof needs 100',
    );
    expect(runIn(folder)).toBeUndefined();
  });
});

describe('Each step', () => {
  it('has a sabotage', () => {
    const names = (isGround: boolean) =>
      steps.filter(({ when }) => (when === 'ground') === isGround).map(({ name }) => name);

    expect(Object.keys(sabotages)).toEqual(names(false));
    expect(Object.keys(ofDeployments)).toEqual(names(true));
  });

  it(
    'is not proved if the deployment of its stack fails, and --clean then leaves nothing',
    async () => {
      const before = await inventory();
      let step = '';
      const faulty = await startFaulty(account.port, (call) =>
        ofDeployments[step]?.(call) ? denied : undefined,
      );
      const args = [...named(folder), '--yes', '--keep', '--only', 'seal,pause'];

      const { status } = await prove(args, { ...account.env, ...faulty.env }, (output) => {
        step = stepIn(output);
      });
      faulty.stop();

      const outcomes = runIn(folder)?.outcomes.map(({ name, outcome }) => [name, outcome]);
      expect(outcomes).toEqual([
        ['development', 'failed'],
        ['seal', 'not proved'],
        ['production', 'failed'],
        ['pause', 'not proved'],
      ]);
      expect(status).toBe(1);
      expect((await inventory()).length).toBeGreaterThan(before.length + 100);
      const cleaned = await prove([...named(folder), '--clean'], account.env);
      expect(cleaned.output).toContain('Nothing is left.');
      expect(cleaned.status).toBe(0);
      expect(await inventory()).toEqual(before);
    },
    timeout,
  );

  it(
    'reports its sabotage, also in a run that is resumed, and --clean then leaves nothing',
    async () => {
      const before = await inventory();
      let step = '';
      let hits = 0;
      const faulty = await startFaulty(account.port, (call) => {
        const sabotage = sabotages[step];
        if (sabotage === 'expired') return { code: 'ExpiredToken' };
        if (typeof sabotage !== 'function' || !sabotage(call)) return undefined;
        hits += 1;
        return denied;
      });
      const env = { ...account.env, ...faulty.env };
      const go = (how: readonly string[]) =>
        prove([...named(folder), '--keep', ...how], env, (output, kill) => {
          step = stepIn(output);
          if (sabotages[step] === 'killed') kill();
        });
      const outcomeOf = (name: string) =>
        runIn(folder)?.outcomes.find((outcome) => outcome.name === name);

      const killed = await go(['--yes', '--only', Object.keys(sabotages).join()]);
      expect(killed.output).toContain('Terminated: go on by --resume');
      expect(outcomeOf('load')).toBeUndefined();
      const again = await prove([...named(folder), '--yes'], account.env);
      expect(again.output).toContain('is of a run that has not ended');

      Object.assign(sabotages, { load: 'not done here' });
      const expired = await go(['--resume']);
      expect(expired.output).toContain('renew them (aws sso login), and go on by --resume');
      expect(outcomeOf('unchanged')).toBeUndefined();

      Object.assign(sabotages, { unchanged: 'not done here' });
      const ended = await go(['--resume']);
      faulty.stop();
      expect(ended.status).toBe(1);
      const expected = Object.entries(sabotages).map(([name, sabotage]) => {
        if (typeof sabotage === 'function') return [name, 'failed'];
        return [name, name === 'unchanged' ? 'proved' : 'not proved'];
      });
      expect(expected.map(([name = '']) => [name, outcomeOf(name)?.outcome])).toEqual(expected);
      // What failed did so by the sabotage.
      const failed = runIn(folder)?.outcomes.filter(({ outcome }) => outcome === 'failed') ?? [];
      for (const { name, why } of failed) expect(why, name).toMatch(/AccessDenied|permission/);
      expect(hits).toBeGreaterThan(expected.length / 2);

      const cleaned = await prove([...named(folder), '--clean'], account.env);
      expect(cleaned.output).toContain('Nothing is left.');
      expect(cleaned.status).toBe(0);
      expect(await inventory()).toEqual(before);
      const report = readFileSync(join(folder, 'prove.md'), 'utf8');
      expect(report).toContain('# Proof of ');
      expect(report).not.toContain('000000000000');
    },
    timeout,
  );
});

it(
  'A proof sends a mail to the simulator of SES once an identity is verified',
  async () => {
    setDefaultCACertificates([...getCACertificates(), readFileSync(certificateFile, 'utf8')]);
    const { place } = account;
    const adapt = atEmulator(`${place.env.AWS_ENDPOINT_URL}`);
    const proof: Proof = {
      place: { ...place, adapt: (template) => adapt(place.adapt(template)) },
      isLocked: false,
      before: {},
    };
    await deployDevelopment(proof);

    await expect(sendToSimulator(proof)).rejects.toThrow('no identity is verified in Amazon SES');
    await place.call('sesv2', 'create_email_identity', { EmailIdentity: 'example.com' });
    const found = await sendToSimulator(proof);

    expect(found).toBe('SES took a mail to its simulator');
    await destroyDevelopment(proof);
  },
  timeout,
);
