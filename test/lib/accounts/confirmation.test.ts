import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { requireConfirmed } from '../../../lib/accounts/confirmation.ts';
import { logIn } from '../../../lib/accounts/log-in.ts';
import type { DomainError } from '../../../lib/ground/errors.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import { hashPassword } from '../../../lib/users/password.ts';
import { proxiedTablesForThisFile } from '../../support/own-tables.ts';
import { overtake } from '../../support/proxy.ts';
import { insertedUser } from '../../support/stored-user.ts';

const { proxy } = await proxiedTablesForThisFile();
const environment = {
  JWT_SECRET: 'x'.repeat(40),
  LOGIN_FAILURES_PER_ACCOUNT: '2',
  LOGIN_FAILURES_PER_ADDRESS: '0',
};
for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);

const [required, wrong] = ['CURRENT_PASSWORD_REQUIRED', 'CURRENT_PASSWORD_WRONG'];
const tooMany = 'TOO_MANY_ATTEMPTS';
const source = { ip_address: '192.0.2.1', user_agent: 'test', request_id: 'r' };

let user: StoredUser;
beforeEach(async () => {
  user = await insertedUser({ password_hash: await hashPassword('right') });
});
afterEach(() => proxy.impose());

const confirm = (currentPassword: string | undefined) =>
  requireConfirmed(user, { currentPassword, source }).then(
    () => 'confirmed',
    ({ code }: DomainError) => code,
  );
const confirmAll = async (...passwords: readonly (string | undefined)[]) => {
  const outcomes: string[] = [];
  for (const password of passwords) outcomes.push(await confirm(password));
  return outcomes;
};

describe('A current password', () => {
  it('is required, and its absence does not count as a failed login', async () => {
    const outcomes = await confirmAll(undefined, '', undefined, 'right');

    expect(outcomes).toEqual([required, required, required, 'confirmed']);
  });

  it('that is wrong counts as a failed login, so that further confirmations and logins have to wait', async () => {
    const outcomes = await confirmAll('wrong', 'wrong', 'right');

    expect(outcomes).toEqual([wrong, wrong, tooMany]);
    const login = logIn({ email: user.email, password: 'right' }, source);
    await expect(login).rejects.toMatchObject({ code: tooMany, retryAfter: expect.any(Number) });
  });

  it('that is right does not make the service forget failures, whereas a login does', async () => {
    expect(await confirmAll('wrong', 'right')).toEqual([wrong, 'confirmed']);

    await logIn({ email: user.email, password: 'right' }, source);

    expect(await confirmAll('wrong', 'right')).toEqual([wrong, 'confirmed']);
  });

  it('has to wait when other attempts reach the limit while it is checked', async () => {
    // This holds back the second read of the counts.
    const [outcome, others] = await overtake(
      proxy,
      'BatchGetItem',
      () => confirm('right'),
      () => confirmAll('wrong', 'wrong'),
      { after: 1 },
    );

    expect([outcome, ...others]).toEqual([tooMany, wrong, wrong]);
  });

  it('is checked once against each stored hash, however often the change is tried', async () => {
    const checked = await requireConfirmed(user, { currentPassword: 'right', source });
    proxy.forget();

    await requireConfirmed(user, checked);

    expect(proxy.requests).toEqual([]);
    const changed = { ...user, password_hash: await hashPassword('another one') };
    const again = requireConfirmed(changed, checked);
    await expect(again).rejects.toMatchObject({ code: wrong });
  });
});
