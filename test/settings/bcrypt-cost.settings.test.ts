import { describe, expect, it } from 'vitest';
import { listUsers, outcome, refusal, serviceForThisFile } from '../acceptance.ts';
import { logIn, register, uniqueEmail } from '../client.ts';

const sound = await serviceForThisFile();
const account = await register(sound.api);
// On the same tables: its admin is there already, so that nothing is hashed at its start.
const { api, adminToken } = await serviceForThisFile({ ...sound.environment, BCRYPT_COST: '99' });

const hashingFault = [500, { message: 'Error hashing password', hashErr: 'ConfigError' }];
const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'p' });

describe('With a BCRYPT_COST that is out of range', () => {
  it.each([
    ['POST', '/api/auth/register', newUser()],
    ['POST', '/api/users', newUser()],
    ['PUT', `/api/users/${account.id}`, { name: 'New', password: 'new' }],
  ])('%s %s answers 500 with hashErr and stores nothing', async (method, path, json) => {
    const before = await listUsers(api, adminToken);

    const answer = await api(method, path, { token: adminToken, json });

    expect(outcome(answer)).toEqual(hashingFault);
    expect(await listUsers(api, adminToken)).toEqual(before);
  });

  it('leaves no audit entry of a fault that is not the store’s', async () => {
    const entries = async () =>
      (await api('GET', '/api/admin/audit-logs?action=CREATE', { token: adminToken })).body.data;
    const before = await entries();

    await api('POST', '/api/auth/register', { json: newUser() });

    expect(await entries()).toEqual(before);
  });

  it('still lets users log in, whose hash it need not make', async () => {
    expect(await logIn(api, account)).toBeTypeOf('string');
  });

  it.each([
    [401, 'Invalid credentials', account.email],
    [404, 'User is not registered', uniqueEmail()],
  ])('still refuses others with %i %s', async (status, message, email) => {
    const answer = await api('POST', '/api/login', { json: { email, password: 'wrong' } });

    expect(outcome(answer)).toEqual(refusal(status, message));
  });
});
