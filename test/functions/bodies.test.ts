import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  listUsers,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../support/acceptance.ts';
import { type ApiRequestOptions, register } from '../support/client.ts';
import { endpoints, fieldsOf, idIn, tokenFor } from '../support/examples.ts';
import { createMemoryUser } from '../support/memory-users.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const [user, memoryUser] = [await register(api), await createMemoryUser(api)];
const subject = { account: user, admin: adminToken, memoryId: memoryUser.id };
const agent = uniqueAgent();
const mark = randomUUID();
const markedEmail = () => `${randomUUID()}@${mark}`;

/** Everything that the requests could have changed or left behind. */
const state = async () => ({
  user: (await api('GET', `/api/users/${user.id}`, { token: user.token })).body,
  memoryUser: (await api('GET', `/api/v1/users/${memoryUser.id}`)).body,
  others: [
    ...(await listUsers(api, adminToken)),
    ...(await api('GET', '/api/v1/users')).body,
  ].filter(({ email }) => email.includes(mark)),
  entries: await entriesOf(service, agent),
});

/** For each field, a value that its rules refuse, and the message. */
const refusedValues = {
  name: ['x'.repeat(101), 'name must be at most 100 characters'],
  email: ['x'.repeat(192), 'email must be at most 191 characters'],
  password: [7, 'password must be a string'],
} as const;
const commonFields = Object.keys(refusedValues) as (keyof typeof refusedValues)[];

/** The endpoints that take a JSON body, with functions that call them. */
const takingBodies = endpoints.flatMap((example) => {
  const { route, method, path, json } = example;
  if (!json) return [];
  const token = tokenFor(example, subject);
  const target = path.replace('{id}', idIn(example, subject));
  const fields = fieldsOf(route, subject);
  return [
    {
      title: route,
      fields: commonFields.filter((field) => fields.includes(field)),
      /** A valid body. */
      sound: () => ({ ...json(subject), name: 'n', email: markedEmail(), password: 'p' }),
      send: ({ headers, ...request }: Pick<ApiRequestOptions, 'json' | 'body' | 'headers'>) =>
        api(method, target, {
          ...(token ? { token } : {}),
          ...request,
          headers: { 'user-agent': agent, ...headers },
        }),
    },
  ];
});

const headers = { 'content-type': 'application/json' };
const text = JSON.stringify({ name: 'n', email: markedEmail(), password: 'p' });

/** The responses to an empty object. */
const toNoFields: Readonly<Record<string, readonly [status: number, body: unknown]>> = {
  'POST /api/auth/register': refusal(400, 'All fields are required'),
  'POST /api/login': refusal(400, 'Email and password are required'),
  'POST /api/users': refusal(400, 'All fields are required'),
  'PUT /api/users/{id}': refusal(400, 'No fields to update'),
  'POST /api/v1/users': refusal(400, 'Name and email required'),
  'PUT /api/v1/users/{id}': refusal(400, 'Name and email required'),
  'PATCH /api/v1/users/{id}': [200, expect.objectContaining({ name: 'Some One' })],
};

// The rules for bodies are tested in test/lib/http/json-body.test.ts; these tests check that each endpoint obeys them.
describe.each(takingBodies)('$title', ({ title, send }) => {
  it('treats a request without a body like an empty object', async () => {
    const answers = [await send({}), await send({ json: {} })];

    expect(answers.map(outcome)).toEqual(Array(2).fill(toNoFields[title]));
  });

  it('answers 400 to a body that is not JSON', async () => {
    const answer = await send({ headers, body: text.slice(0, -1) });

    expect(outcome(answer)).toEqual(refusal(400, 'Request body is not valid JSON'));
  });
});

describe('POST /api/auth/register', () => {
  it('answers 413 to a body of 64 KiB and a byte', async () => {
    const body = text.padEnd(64 * 1024 + 1);

    const answer = await api('POST', '/api/auth/register', { headers, body });

    expect(outcome(answer)).toEqual(refusal(413, 'Request Entity Too Large'));
  });
});

/** Every field of every endpoint whose fields have these rules. */
const fields = takingBodies
  .filter(({ title }) => title !== 'POST /api/login')
  .flatMap(({ fields, ...endpoint }) => fields.map((field) => ({ ...endpoint, field })));

describe.each(fields)('$title', ({ field, send, sound }) => {
  it(`answers 400 to a ${field} that breaks a rule`, async () => {
    const [value, message] = refusedValues[field];

    const answer = await send({ json: { ...sound(), [field]: value } });

    expect(outcome(answer)).toEqual(refusal(400, message));
  });
});

describe('All of these requests together', () => {
  it('have changed nothing and recorded no audit entry', async () => {
    expect(await state()).toEqual({
      user: expect.objectContaining({ name: 'Some One', role: 'user' }),
      memoryUser: expect.objectContaining({ name: 'Some One' }),
      others: [],
      entries: [],
    });
  });
});
