import { Session } from 'node:inspector/promises';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { handler } from '../../functions/auth/login.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { type Account, register, uniqueEmail } from '../support/client.ts';
import { startTestService } from '../support/service.ts';
import { invoke, stubSettings } from './invoke.ts';

const service = await serviceForThisFile();
stubSettings(service, {});

/** The function that bcryptjs calls twice in each of the 2^cost rounds of a hash. */
const keySchedule = '_key';

/** The rounds of bcrypt that this process computes during some work, counted by V8. */
const countRounds = async (work: () => Promise<unknown>): Promise<number> => {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const calls = result
      .filter(({ url }) => url.includes('/bcryptjs/'))
      .flatMap(({ functions }) => functions)
      .filter(({ functionName }) => functionName === keySchedule)
      .map(({ ranges: [range] }) => range?.count ?? 0);
    return calls.reduce((sum, count) => sum + count, 0) / 2;
  } finally {
    session.disconnect();
  }
};

/** A user whose hash was made at a cost. */
const registerAtCost = async (cost: number, password: string): Promise<Account> => {
  const { USERS_TABLE = '', AUDIT_TABLE = '' } = service.environment;
  const other = await startTestService({ USERS_TABLE, AUDIT_TABLE, BCRYPT_COST: String(cost) });
  const account = await register(other.api, { password });
  await other.stop();
  return account;
};

const long = 'x'.repeat(100);
const accounts = new Map<string, Account>();
beforeAll(async () => {
  for (const cost of [4, 5]) accounts.set(`cost ${cost}`, await registerAtCost(cost, 'p'));
  accounts.set('cost 4, of a long password', await registerAtCost(4, long));
});

const loginUnder = (setting: 'open' | 'private', cost = 5) => {
  vi.stubEnv('ACCOUNTS', setting);
  vi.stubEnv('BCRYPT_COST', String(cost));
  return async (of: string, password: string) => {
    const json = { email: accounts.get(of)?.email ?? uniqueEmail(), password };
    let status: number | undefined;
    const rounds = await countRounds(async () => {
      [status] = await invoke(handler, { json });
    });
    return [status, rounds];
  };
};

describe('The work of a login where BCRYPT_COST is 5 and ACCOUNTS private', () => {
  const everyone = ['no account', 'cost 4', 'cost 5', 'cost 4, of a long password'];

  it.each(everyone)(
    'equals one hash of cost 5 when the login is refused, such as for %s',
    async (of) => {
      const logIn = loginUnder('private');

      expect(await logIn(of, 'wrong')).toEqual([401, 2 ** 5]);
      expect(await logIn(of, `${long}wrong`)).toEqual([401, 2 ** 5]);
    },
  );

  it.each(everyone)(
    'is the same when the password is too long to be examined, such as for %s',
    async (of) => {
      const logIn = loginUnder('private');

      expect(await logIn(of, 'zoe\u0308'.repeat(300))).toEqual([401, 2 ** 5]);
    },
  );

  it('is the same when the address is too long to be examined', async () => {
    const logIn = loginUnder('private');
    accounts.set('a long address', { email: ` ${'x'.repeat(800)}@b` } as Account);

    expect(await logIn('a long address', 'wrong')).toEqual([401, 2 ** 5]);
  });

  it.each(everyone)(
    'equals two hashes when the password as typed has another normal form, such as for %s',
    async (of) => {
      const logIn = loginUnder('private');

      expect(await logIn(of, 'zoe\u0308')).toEqual([401, 2 * 2 ** 5]);
      expect(await logIn(of, `${long}zoe\u0308`)).toEqual([401, 2 * 2 ** 5]);
    },
  );

  it.each([
    ['zoë', 'zoë', 1],
    ['zoe\u0308', 'zoe\u0308', 2],
    ['zoë', 'zoe\u0308', 2],
    ['zoe\u0308', 'zoë', 1],
  ])(
    'does not reveal whether the password %j, typed as %j, is right',
    async (set, typed, times) => {
      const logIn = loginUnder('private');
      accounts.set(set, await registerAtCost(5, set));

      expect(await logIn(set, typed)).toEqual([200, times * 2 ** 5]);
      expect(await logIn(set, `${typed}!`)).toEqual([401, times * 2 ** 5]);
    },
  );

  it('is the same when the login succeeds, plus one new hash if the cost has changed', async () => {
    const logIn = loginUnder('private');
    accounts.set('cost 4 at first', await registerAtCost(4, 'p'));

    expect(await logIn('cost 4 at first', 'p')).toEqual([200, 2 ** 5 + 2 ** 5]);
    expect(await logIn('cost 4 at first', 'p')).toEqual([200, 2 ** 5]);
  });

  it('equals one hash of the present cost, however low the cost of the stored hash is', async () => {
    const logIn = loginUnder('private', 6);

    expect(await logIn('cost 4', 'wrong')).toEqual([401, 2 ** 6]);
  });
});

describe('The work of a login where BCRYPT_COST is 5 and ACCOUNTS open', () => {
  it.each([
    ['no account', 404, 0],
    ['cost 4', 401, 2 ** 4],
    ['cost 5', 401, 2 ** 5],
  ])('is only the work of the comparison, such as for %s', async (of, status, rounds) => {
    const logIn = loginUnder('open');

    expect(await logIn(of, 'wrong')).toEqual([status, rounds]);
    expect(await logIn(of, 'zoe\u0308')).toEqual([status, 2 * rounds]);
  });
});
