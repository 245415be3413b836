import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { entriesOf, outcome, refusal, uniqueAgent } from '../../support/acceptance.ts';
import { uniqueEmail } from '../../support/client.ts';
import { identityServiceForThisFile, newPerson, startIssuer } from '../../support/issuer.ts';
import { verificationSettings } from '../../support/verification.ts';

const issuer = await startIssuer();
const service = await identityServiceForThisFile(issuer);
const { api, adminToken, proofOf, send, signIn } = service;
const idOf = (token: string) => decodeJwt(token).id as number;
const readUser = async (id: number) =>
  (await api('GET', `/api/users/${id}`, { token: adminToken })).body;

describe('POST /api/login/identity', async () => {
  it('registers the user of an unknown identity, and logs in the user of a known identity', async () => {
    const [person, agent] = [newPerson({ name: 'Ada' }), uniqueAgent()];
    const headers = { 'user-agent': agent };

    const first = await signIn(person, {}, headers);
    const second = await signIn(person, { name: 'Other' }, headers);

    expect([first.status, first.body.message]).toEqual([201, 'User registered successfully']);
    expect([second.status, second.body.message]).toEqual([200, 'Login successful']);
    const id = idOf(first.body.token);
    expect(idOf(second.body.token)).toBe(id);
    expect(await readUser(id)).toMatchObject({ name: 'Ada', email: person.email, role: 'user' });
    const details = JSON.stringify({ identity: issuer.url });
    const by = { user_id: id, resource_id: String(id), result: 'SUCCESS', details };
    expect(await entriesOf(service, agent)).toMatchObject([
      { action: 'CREATE', ...by },
      { action: 'LOGIN', ...by },
    ]);
  });

  it.each([
    [{ name: 'Of the app' }, { name: 'Of the token' }, 'Of the app'],
    [{}, { name: ' Of the token ' }, 'Of the token'],
    [{}, { name: ' ' }, undefined],
    [{}, { email: `${'x'.repeat(99)}😀y@example.org` }, `${'x'.repeat(99)}😀`],
  ])(
    'names a new user by the name in %j, then by the name in %j, then by the address',
    async (fields, claims, name) => {
      const person = newPerson(claims);

      const { body } = await signIn(person, fields);

      expect((await readUser(idOf(body.token))).name).toBe(name ?? person.sub);
    },
  );

  it('refuses a name that no user may have', async () => {
    const refused = refusal(400, 'name must be a string');
    expect(outcome(await signIn(newPerson(), { name: 7 }))).toEqual(refused);
  });

  it('counts and records a used nonce, also if its user is deleted, and the nonce of another token', async () => {
    const [person, agent] = [newPerson(), uniqueAgent()];
    const proof = await proofOf(person);
    const id = idOf((await send(proof)).body.token);
    await api('DELETE', `/api/users/${id}`, { token: adminToken });

    const again = await send(proof, { 'user-agent': agent });
    const other = await send({ ...proof, nonce: 'x' }, { 'user-agent': agent });

    const refused = refusal(401, 'Invalid identity token');
    expect([again, other].map(outcome)).toEqual([refused, refused]);
    const details = JSON.stringify({ reason: 'invalid_identity_token' });
    const failure = { result: 'FAILURE', details };
    expect(await entriesOf(service, agent)).toMatchObject([failure, failure]);
  });

  const { VERIFY_URL, EMAIL_VERIFICATION } = verificationSettings.on;
  const verifying = await identityServiceForThisFile(issuer, { VERIFY_URL, EMAIL_VERIFICATION });
  it('registers no address that can never be mailed where addresses are verified', async () => {
    const email = `jörg.${uniqueEmail()}`;

    const refused = await verifying.signIn(newPerson({ email }));

    const rule = 'email must be an address that mails can be sent to';
    expect(outcome(refused)).toEqual(refusal(400, rule));
    expect((await signIn(newPerson({ email }))).status).toBe(201);
  });

  it('registers a user without a password, whom no password logs in', async () => {
    const person = newPerson();
    await signIn(person);

    const json = { email: person.email, password: '.' };
    expect(outcome(await api('POST', '/api/login', { json }))).toEqual(
      refusal(401, 'Invalid credentials'),
    );
  });
});
