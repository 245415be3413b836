import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { type Account, logIn, register } from '../../support/client.ts';
import {
  type OperatedService,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';
import { claimsWith, signToken } from '../../support/tokens.ts';

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
  it('logs nobody out: tokens from before, during and after it are accepted', async () => {
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
  it('keeps two versions in a file that only its owner can read, and prints neither', async () => {
    const service = await operatedServiceForThisTest();
    const [first] = await secretsOf(service);

    const { stdout, stderr } = await service.operate(['rotate-secret']);

    const secrets = await secretsOf(service);
    const { mode } = await stat(join(service.folder, 'jwt-secret.json'));
    const entries = await service.entries();
    expect(secrets).toEqual([expect.stringMatching(/^[\w-]{64}$/), first]);
    expect(secrets[0]).not.toBe(first);
    expect(mode & 0o777).toBe(0o600);
    for (const secret of secrets)
      expect(stdout + stderr + JSON.stringify(entries)).not.toContain(secret);
    expect(entries).toMatchObject([
      operatorEntry('rotate-secret', {
        action: 'UPDATE',
        resource: 'signing-secret',
        resource_id: expect.any(String) as unknown as string,
      }),
    ]);
  });

  it('refuses a second rotation within a day, says when one is possible, and obeys --force', async () => {
    const service = await operatedServiceForThisTest();
    const [first] = await secretsOf(service);
    await service.operate(['rotate-secret']);
    const [second] = await secretsOf(service);

    const refused = await service.operate(['rotate-secret']);
    const afterRefusal = await secretsOf(service);
    const forced = await service.operate(['rotate-secret', '--force']);
    const afterForce = await secretsOf(service);

    expect([refused.status, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toMatch(
      /Rotate it after 2\d{3}-[\dT:-]+Z, or, after a leak, now with --force/,
    );
    expect(afterRefusal).toEqual([second, first]);
    expect(forced.status).toBe(0);
    expect(afterForce[1]).toBe(second);
    expect(afterForce).not.toContain(first);
  });

  it('rotates again once the last token of the previous version has expired', async () => {
    const service = await operatedServiceForThisTest();
    const aDayAndMoreAgo = new Date(Date.now() - 25 * 3600 * 1000).toISOString();
    const version = (id: string) => ({ id, value: id.repeat(40), createdAt: aDayAndMoreAgo });
    const file = join(service.folder, 'jwt-secret.json');
    await writeFile(file, JSON.stringify([version('b'), version('a')]));

    const { status } = await service.operate(['rotate-secret']);

    expect(status).toBe(0);
    expect(await secretsOf(service)).toEqual([expect.any(String), 'b'.repeat(40)]);
  });

  it('refuses where the secret comes from JWT_SECRET', async () => {
    const service = await operatedServiceForThisTest({ JWT_SECRET: 's'.repeat(40) });

    const { status, stderr } = await service.operate(['rotate-secret']);

    expect(status).toBe(1);
    expect(stderr).toMatch(/reads it from JWT_SECRET/);
    expect(await service.entries()).toEqual([]);
  });
});
