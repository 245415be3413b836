import fc from 'fast-check';
import { expect, it } from 'vitest';
import { counted, holds } from '../support/runs.ts';
import { expectSound } from './answers.ts';
import { bodyOf } from './commands.ts';
import { type Answer, type Call, startHandlers } from './handlers.ts';
import { requestTo } from './requests.ts';

const handlers = await startHandlers();
const call = counted(handlers.call);

const collection = '/api/v1/users';
const headers = { 'content-type': 'application/json' };

interface Listed {
  readonly id: number;
  readonly name: string;
  readonly email: string;
}

const list = async (): Promise<Map<number, Listed>> => {
  const { text = '' } = await handlers.call({ route: `GET ${collection}`, headers: {} });
  return new Map(JSON.parse(text).map((user: Listed) => [user.id, user]));
};

const refill = async () => {
  for (const id of (await list()).keys()) {
    await handlers.call({ route: `DELETE ${collection}/{id}`, headers, id: String(id) });
  }
  for (const email of ['ada@b', 'élan@b']) {
    const body = JSON.stringify({ name: 'n', email });
    await handlers.call({ route: `POST ${collection}`, headers, body });
  }
};

const accounts = ['ada@b', 'élan@b'].map((email, i) => ({ id: i + 1, email, password: 'p' }));
const known = {
  tokens: ['none'] as const,
  secret: handlers.jwtSecret,
  accounts,
  cursors: [],
};

/** The list after a call, by its answer. */
const expected = (before: Map<number, Listed>, sent: Call, { status, text = '' }: Answer) => {
  if (status >= 400 || sent.route.startsWith('GET')) return before;
  const after = new Map(before);
  if (status === 204) {
    after.delete(Number(sent.id));
    return after;
  }
  const { id, name, email } = JSON.parse(text);
  return after.set(id, { id, name, email });
};

const expectAnswer = (before: Map<number, Listed>, sent: Call, { status, text = '' }: Answer) => {
  if (status >= 400 || status === 204) return;
  const body = JSON.parse(text);
  if (sent.route === `GET ${collection}`) return expect(body).toEqual([...before.values()]);
  expect(Object.keys(body).sort()).toEqual(['createdAt', 'email', 'id', 'name']);
  if (status === 201) expect(before.has(body.id)).toBe(false);
  else expect(String(body.id)).toBe(sent.id);
  if (/^(POST|PUT)/.test(sent.route)) {
    const { name, email } = bodyOf(sent);
    expect([body.name, body.email]).toEqual([name, email]);
  }
};

const expectHonest = async (calls: readonly Call[]) => {
  await refill();
  for (const request of calls) {
    const before = await list();
    // Ids are never used twice, so that the sent ones are those of the users in the list.
    const ids = [...before.keys()];
    const id = ids[Number(request.id) - 1];
    const sent = id === undefined ? request : { ...request, id: String(id) };
    const answer = await call(sent);
    expectSound(answer, [handlers.jwtSecret]);
    expectAnswer(before, sent, answer);
    const after = await list();
    expect(after).toEqual(expected(before, sent, answer));
    const emails = [...after.values()].map(({ email }) => email.toLowerCase());
    expect(new Set(emails).size).toBe(emails.length);
  }
};

it.each([
  [`GET ${collection}`, 30],
  [`POST ${collection}`, 110],
  [`GET ${collection}/{id}`, 60],
  [`PUT ${collection}/{id}`, 110],
  [`PATCH ${collection}/{id}`, 110],
  [`DELETE ${collection}/{id}`, 60],
])('%s answers soundly whatever is sent, and does what it answers', async (route, runs) => {
  const calls = fc.array(requestTo(route, known), { minLength: 1, maxLength: 12, size: 'max' });

  await holds(runs, fc.asyncProperty(calls, expectHonest));
});
