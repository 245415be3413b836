import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { type ApiAnswer, uniqueEmail } from '../support/client.ts';
import { identityClient, identitySettings, newPerson, startIssuer } from '../support/issuer.ts';
import { mailSettings, verifyUrl } from '../support/mailbox.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { faults, overtake } from '../support/proxy.ts';
import { plantLinkToken, registerVerified } from '../support/reset-tokens.ts';
import { count, times } from './at-once.ts';

const issuer = await startIssuer();
const { proxy, service } = await proxiedServiceForThisFile({
  ...identitySettings(issuer),
  ...mailSettings,
  SELF_DELETION: 'on',
  EMAIL_VERIFICATION: 'on',
  VERIFY_URL: verifyUrl,
});
const { api } = service;
const { identitiesOf, link, proofOf, send, signIn } = identityClient(api, issuer);

const newUser = () => registerVerified(service);
const profileOf = (token: string) => api('GET', '/api/profile', { token });

describe('An identity', () => {
  it('that signs in ten times at once for the first time becomes only one user', async () => {
    const person = newPerson();

    const answers = await times(10, () => signIn(person));

    expect([count(answers, 201), count(answers, 200)]).toEqual([1, 9]);
    expect(new Set(answers.map(({ body }) => decodeJwt(body.token).id)).size).toBe(1);
  });

  it('is linked to only one of ten accounts that ask for it at once', async () => {
    const person = newPerson();
    const users = await times(10, newUser);

    const answers = await times(10, (i) => {
      const { token = '', password: currentPassword } = users[i] ?? {};
      return link(token, person, { currentPassword });
    });

    expect([count(answers, 201), count(answers, 409)]).toEqual([1, 9]);
    const linked = await Promise.all(users.map(({ token }) => identitiesOf(token)));
    expect(linked.flat()).toHaveLength(1);
  });

  it.each([
    ['resets the password', 'reset', 204],
    ['is suspended', 'suspension', 204],
    ['gets a new password from an admin', 'password', 200],
  ])('is not linked to a user who meanwhile %s', async (_, what, done) => {
    const [user, person] = [await newUser(), newPerson()];
    const token = await plantLinkToken(service.environment, user.id);
    const reset = { json: { token, password: 'another' } };
    const asAdmin = { token: service.adminToken };
    const ofUser = `/api/users/${user.id}`;
    const events: Readonly<Record<string, () => Promise<ApiAnswer>>> = {
      reset: () => api('PUT', '/api/password-resets', reset),
      suspension: () => api('PUT', `${ofUser}/suspension`, asAdmin),
      password: () => api('PUT', ofUser, { ...asAdmin, json: { password: 'another' } }),
    };

    const [linked, ended] = await overtake(
      proxy,
      'TransactWriteItems',
      () => link(user.token, person, { currentPassword: user.password }),
      events[what] as () => Promise<ApiAnswer>,
    );
    proxy.impose();

    expect([linked.status, ended.status]).toEqual([401, done]);
    expect(decodeJwt((await signIn(person)).body.token).id).not.toBe(user.id);
  });

  it('that is unlinked during its logins leaves no session open', async () => {
    const [user, person] = [await newUser(), newPerson()];
    const json = { currentPassword: user.password };
    const { id } = (await link(user.token, person, json)).body;
    const proofs = await times(10, () => proofOf(person));

    const [unlinked, ...answers] = await Promise.all([
      api('POST', `/api/identities/${id}/removals`, { token: user.token, json }),
      ...proofs.map((proof) => send(proof)),
    ]);

    expect(unlinked.status).toBe(204);
    // Once it is unlinked, it belongs to a new user.
    const tokens = answers.flatMap(({ body: { token } }) =>
      token && decodeJwt(token).id === user.id ? [token] : [],
    );
    const profiles = await Promise.all(tokens.map(profileOf));
    expect(count(profiles, 401)).toBe(tokens.length);
  });

  it('whose user is deleted during its logins belongs to a new user or to nobody', async () => {
    const person = newPerson();
    const { token } = (await signIn(person)).body;
    const [deletion, ...proofs] = await times(6, () => proofOf(person));

    const [deleted, ...answers] = await Promise.all([
      api('POST', '/api/account-deletions', { token, json: deletion }),
      ...proofs.map((proof) => send(proof)),
    ]);

    expect(deleted.status).toBe(204);
    const { body } = await signIn(person);
    const own = decodeJwt(body.token).id;
    for (const { status, body } of answers.filter(({ status }) => status < 300)) {
      const isNew = status === 201 || decodeJwt(body.token).id === own;
      expect((await profileOf(body.token)).status).toBe(isNew ? 200 : 401);
    }
  });
});

describe('A nonce', () => {
  it('verifies an address although the user is changed meanwhile', async () => {
    const person = newPerson();
    const { token } = (await signIn(person)).body;
    const [id, email] = [Number(decodeJwt(token).id), uniqueEmail()];
    const link = await plantLinkToken(service.environment, id, { kind: 'address', email });
    const proof = { token: link, ...(await proofOf(person)) };

    const [verified, renamed] = await overtake(
      proxy,
      'TransactWriteItems',
      () => api('PUT', '/api/email-verifications', { json: proof }),
      () => api('PUT', `/api/users/${id}`, { token, json: { name: 'Other' } }),
    );
    proxy.impose();

    expect([verified.status, renamed.status]).toEqual([204, 200]);
  });

  it.each([
    ['a known identity', 200, true],
    ['a new identity', 201, false],
  ])('lets only one of ten logins of %s succeed', async (_, status, isKnown) => {
    const person = newPerson();
    if (isKnown) await signIn(person);
    const proof = await proofOf(person);

    const answers = await times(10, () => send(proof));

    expect([count(answers, status), count(answers, 401)]).toEqual([1, 9]);
  });

  it.each(['lose', 'truncate'] as const)(
    'lets its user log in although the response to the write that uses the nonce is lost: %s',
    async (fault) => {
      const person = newPerson();
      for (const operation of ['TransactWriteItems', 'PutItem'] as const) {
        const proof = await proofOf(person);
        proxy.impose({ fault: faults[fault], operation, times: 1 });

        const { status } = await send(proof);
        proxy.impose();

        expect(status).toBe(operation === 'PutItem' ? 200 : 201);
        expect((await send(proof)).status).toBe(401);
      }
    },
  );
});
