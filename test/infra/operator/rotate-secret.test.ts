import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { type Account, logIn, register } from '../../support/client.ts';
import {
  type OperatedService,
  operate,
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';
import { claimsWith, signToken } from '../../support/tokens.ts';
import { arn, awsForThisTest } from './aws.ts';

const rotation = { action: 'UPDATE', resource: 'signing-secret' } as const;

/** Has a service's clock run a minute and a second ahead, once more at every SIGUSR2. */
const adjustableClock = `
  let ahead = 0;
  const Real = Date;
  const now = () => Real.now() + ahead;
  globalThis.Date = class extends Real {
    constructor(...given) { given.length ? super(...given) : super(now()); }
    static now() { return now(); }
  };
  process.on('SIGUSR2', () => { ahead += 61_000; });
`;

const secretsOf = async ({ folder }: OperatedService): Promise<readonly string[]> => {
  const versions: { value: string }[] = JSON.parse(
    await readFile(join(folder, 'jwt-secret.json'), 'utf8'),
  );
  return versions.map(({ value }) => value);
};

/** A token of an account as an instance signs it that has read a secret. */
const tokenBy = ({ id, email }: Account, secret: string | undefined) =>
  signToken(claimsWith({ id, email }), secret ?? '');

const statusOf = async ({ api }: OperatedService, token: string): Promise<number> =>
  (await api('GET', '/api/profile', { token })).status;

describe('rotate-secret on a running service', () => {
  it('logs nobody out: tokens from before, during and after the rotation are accepted', async () => {
    const preload = `data:text/javascript,${encodeURIComponent(adjustableClock)}`;
    const service = await operatedServiceForThisTest({ NODE_OPTIONS: `--import=${preload}` });
    const account = await register(service.api);
    const aMinuteLater = async () => {
      service.process?.kill('SIGUSR2');
      // The signal is handled before the next request is.
      await statusOf(service, account.token);
    };
    const before = await logIn(service.api, account);

    const { status, stdout } = await service.operate(['rotate-secret']);
    const [fresh, old] = await secretsOf(service);
    await aMinuteLater();
    const meanwhile = await logIn(service.api, account);
    const ofAnotherInstance = tokenBy(account, fresh);
    const early = [before, meanwhile, ofAnotherInstance].map((token) => statusOf(service, token));
    expect(await Promise.all(early)).toEqual([200, 200, 200]);
    await aMinuteLater();
    const after = await logIn(service.api, account);
    const late = [before, meanwhile, after].map((token) => statusOf(service, token));

    expect([status, stdout]).toEqual([0, expect.stringMatching(/^Rotated at 2.*Z\./)]);
    expect(await Promise.all(late)).toEqual([200, 200, 200]);
    const signedBy = (token: string) =>
      [fresh, old].find((secret) => signToken(decodeJwt(token), secret ?? '') === token);
    expect([before, meanwhile, after].map(signedBy)).toEqual([old, old, fresh]);
  });
});

describe('rotate-secret', () => {
  it('keeps two versions, refuses a third version within a day unless forced, and prints no version', async () => {
    const service = await operatedServiceForThisTest();
    const file = join(service.folder, 'jwt-secret.json');
    const rotate = async (...options: readonly string[]) => {
      const { status, stdout, stderr } = await service.operate(['rotate-secret', ...options]);
      const secrets = await secretsOf(service);
      for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
      return { status, said: stdout + stderr, secrets };
    };
    const [first = ''] = await secretsOf(service);
    const aDayAndMoreAgo = new Date(Date.now() - 25 * 3600 * 1000).toISOString();

    const fresh = await rotate();
    const [second = ''] = fresh.secrets;
    const refused = await rotate();
    const forced = await rotate('--force');
    const [third = ''] = forced.secrets;
    const versions = JSON.parse(await readFile(file, 'utf8'));
    const aged = versions.map((each: object) => ({ ...each, createdAt: aDayAndMoreAgo }));
    await writeFile(file, JSON.stringify(aged));
    const later = await rotate();

    const isNew = expect.stringMatching(/^[\w-]{64}$/);
    expect([fresh.status, fresh.secrets]).toEqual([0, [isNew, first]]);
    expect([refused.status, refused.secrets]).toEqual([1, [second, first]]);
    expect(refused.said).toMatch(
      /Rotate it after 2\d{3}-[\dT:-]+Z, or, after a leak, now with --force/,
    );
    expect([forced.status, forced.secrets]).toEqual([0, [isNew, second]]);
    expect(forced.said).toMatch(/before the previous one are refused within a minute/);
    expect([later.status, later.secrets]).toEqual([0, [isNew, third]]);
    expect(later.said).not.toContain('are refused');
    expect(new Set([first, second, third, later.secrets[0]]).size).toBe(4);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const entries = await service.entries();
    const id = expect.any(String) as unknown as string;
    expect(entries).toMatchObject(
      Array(3).fill(operatorEntry('rotate-secret', { ...rotation, resource_id: id })),
    );
    expect(JSON.stringify(entries)).not.toMatch(new RegExp([first, second, third].join('|')));
  });

  it('refuses to run if the secret comes from JWT_SECRET', async () => {
    const service = await operatedServiceForThisTest({ JWT_SECRET: 's'.repeat(40) });

    const { status, stderr } = await service.operate(['rotate-secret']);

    expect(status).toBe(1);
    expect(stderr).toMatch(/reads it from JWT_SECRET/);
    expect(await service.entries()).toEqual([]);
  });
});

describe('rotate-secret on a deployed stack', async () => {
  const service = await operatedServiceForThisFile();
  const by = { operator: arn };
  const lost = { error: 'ECONNRESET', outcome: 'unknown', ...by };

  it.each<[string, string | undefined, number, RegExp, number, object?]>([
    ['leaves an entry with the AWS identity that ran it', undefined, 0, /^$/, 2, { details: by }],
    [
      'leaves an entry with an unknown outcome when the response is lost',
      'PutSecretValue',
      1,
      /^It is not known whether the change was made \(ECONNRESET\); its audit entry says so\. /,
      2,
      { result: 'FAILURE', details: lost },
    ],
    [
      'does nothing when AWS STS does not tell who runs it',
      'GetCallerIdentity',
      1,
      /^Nothing was done, because AWS STS did not return your identity/,
      1,
    ],
  ])('%s', async (_, silent, status, said, versions, entry) => {
    const before = (await service.entries()).length;
    const { environment, secret, lose } = await awsForThisTest(service);
    if (silent) lose(silent);

    const ended = await operate(['rotate-secret', '--stack', 'accounts'], { environment });

    expect([ended.status, ended.stderr]).toEqual([status, expect.stringMatching(said)]);
    expect(secret).toHaveLength(versions);
    const named = { ...rotation, resource_id: secret[0]?.id ?? '', ...entry };
    const expected = entry ? [operatorEntry('rotate-secret', named)] : [];
    expect((await service.entries()).slice(before)).toMatchObject(expected);
  });
});
