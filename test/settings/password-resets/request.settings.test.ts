import { decodeJwt } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { handler } from '../../../functions/password-resets/request.ts';
import { handler as setHandler } from '../../../functions/password-resets/set.ts';
import { makeLinkToken, resetLink } from '../../../lib/options/links/mailed-link.ts';
import { insertUser } from '../../../lib/users/store.ts';
import { entriesOf, outcome, uniqueAgent } from '../../support/acceptance.ts';
import { register, uniqueEmail } from '../../support/client.ts';
import { gatewayEvent } from '../../support/event.ts';
import { mailingFunctionForThisFile, mailingServiceForThisFile } from '../../support/mailbox.ts';
import { storedUser } from '../../support/stored-user.ts';
import { invoke } from '../invoke.ts';

const path = '/api/password-resets';
const message = 'If the address is registered, a mail is on its way';

/** The function by itself: the messages that it hands over are kept, and no mails are sent. */
const { proxy, mailbox, logged } = await mailingFunctionForThisFile(({ handOver }) => ({
  ...handOver,
  JWT_SECRET: 'x'.repeat(40),
}));

let lastAddress = 0;
/** A source address that has sent no requests yet. */
const newAddress = () => {
  lastAddress += 1;
  return `198.51.100.${lastAddress}`;
};
const ask = (json: object | undefined, sourceIp = newAddress(), headers = {}) =>
  invoke(handler, { json, sourceIp, headers, path });
const known = storedUser({ id: 1, email: 'known@example.org' });
await insertUser(known);

describe('POST /api/password-resets', () => {
  beforeEach(() => {
    proxy.forget();
    mailbox.fail();
    logged.mockClear();
  });

  it('counts the source address and looks up no user, whether or not the address is registered', async () => {
    const email = 'nobody@example.org';
    const [one, other] = [newAddress(), newAddress()];
    const shapeOf = async (asked: string, sourceIp: string) => {
      const [handedOver] = [mailbox.messages.length, proxy.forget()];
      await ask({ email: asked }, sourceIp);
      const requests = proxy.requests.map(({ content }) => content.replaceAll(sourceIp, 'source'));
      const [given] = mailbox.messages.slice(handedOver);
      return { requests, given: { ...given, email: 'typed', time: 'now', ip_address: 'source' } };
    };

    const [ofKnown, ofNobody] = [await shapeOf(known.email, one), await shapeOf(email, other)];

    const times = (text: string) => text.replaceAll(/(["#])\d{7,10}"/g, '$1time"');
    expect(ofKnown.given).toEqual(ofNobody.given);
    expect(ofKnown.requests.map(times)).toEqual(ofNobody.requests.map(times));
    expect(ofKnown.requests).toHaveLength(1);
    expect(ofKnown.requests[0]).toMatch(/^UpdateItem.*attempts#mail#address#source/);
    expect(JSON.stringify(ofKnown.requests)).not.toContain(known.email);
  });

  it('hands over the address, the client and the time, and no token', async () => {
    const before = new Date().toISOString();

    await ask({ email: ` ${known.email} ` }, '203.0.113.9');

    const given = mailbox.messages.at(-1);
    expect(given).toEqual({
      kind: 'reset',
      email: known.email,
      request_id: 'request-1',
      ip_address: '203.0.113.9',
      user_agent: 'test',
      time: expect.any(String),
    });
    expect(String(given?.time) >= before).toBe(true);
  });

  it('hands over the language that the request prefers', async () => {
    await ask({ email: known.email }, newAddress(), { 'accept-language': 'fr, de-AT;q=0.8' });

    expect(mailbox.messages.at(-1)).toMatchObject({ language: 'de' });
  });

  it('responds with 500 and the name of the fault when nothing can be handed over', async () => {
    mailbox.fail(500, 500);

    expect(await ask({ email: known.email })).toEqual([
      500,
      { message: 'Error requesting mail', err: 'Http500' },
    ]);
    expect(String(logged.mock.calls)).not.toContain(known.email);
  });
});

describe('PUT /api/password-resets', () => {
  const asked = async (token: string) => {
    proxy.forget();
    const json = { token, password: 'a new password' };
    await setHandler(gatewayEvent({ method: 'PUT', path, ...body(json) }), {});
    return proxy.requests.map(({ operation }) => operation);
  };
  const body = (json: object) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });

  it('sends the store the same requests for every invalid token', async () => {
    const user = storedUser({ id: 2 });
    await insertUser(user);
    await makeLinkToken(resetLink(user));
    const random = 'A'.repeat(43);

    const requests = [
      await asked(`2.${random}`),
      await asked(`1.${random}`),
      await asked(`77.${random}`),
    ];

    expect(requests).toEqual(Array(3).fill(['BatchGetItem']));
  });

  it('costs one read, one transaction, an entry, and the count of its notice', async () => {
    const user = storedUser({ id: 3 });
    await insertUser(user);

    expect(await asked(await makeLinkToken(resetLink(user)))).toEqual([
      'BatchGetItem',
      'TransactWriteItems',
      'PutItem',
      'UpdateItem',
    ]);
  });
});

describe('A mail with a link', async () => {
  const service = await mailingServiceForThisFile();
  const { api, mailbox: received } = service;

  it('is sent from the address of the setting, to the address as the user registered it', async () => {
    const user = await register(api, { email: `Ada.${uniqueEmail()}` });

    await api('POST', path, { json: { email: user.email.toUpperCase() } });

    const [mail] = await received.mailsTo(user.email);
    expect(mail).toMatchObject({ from: 'accounts@example.com', to: [user.email] });
    expect(mail?.text).toMatch(/on \d{4}-\d\d-\d\d at \d\d:\d\d UTC, from the IP address 127/);
  });

  it('is recorded with the caller of a valid token as the user who asked, and otherwise without a user', async () => {
    const asked = async (token = '') => {
      const [user, agent] = [await register(api), uniqueAgent()];
      const headers = { 'user-agent': agent };
      const answer = await api('POST', path, {
        json: { email: user.email },
        headers: { ...headers, ...(token ? { authorization: `Bearer ${token}` } : {}) },
      });
      await received.mailsTo(user.email);
      const [entry] = await expect
        .poll(() => entriesOf(service, agent))
        .toHaveLength(1)
        .then(() => entriesOf(service, agent));
      return [answer.status, entry?.user_id, entry?.resource_id === String(user.id)];
    };
    const caller = await register(api);

    expect(await asked(service.adminToken)).toEqual([202, decodeJwt(service.adminToken).id, true]);
    expect(await asked(caller.token)).toEqual([202, caller.id, true]);
    expect(await asked()).toEqual([202, null, true]);
    expect(await asked(`${caller.token}x`)).toEqual([202, null, true]);
  });

  it('is not sent for an address that is not registered', async () => {
    const email = uniqueEmail();
    const user = await register(api);

    const answer = await api('POST', path, { json: { email } });
    await api('POST', path, { json: { email: user.email } });

    expect(outcome(answer)).toEqual([202, { message }]);
    await received.mailsTo(user.email);
    expect(JSON.stringify(received.mails)).not.toContain(email);
  });
});
