import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { endpoints as all } from '../../functions/contracts.ts';
import { type Contract, inForce } from '../../lib/contract/contract.ts';
import { configFrom } from '../../lib/ground/settings.ts';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { everySetting } from '../support/every-setting.ts';
import {
  type ExampleRequest,
  endpointsIn,
  exampleRequestsOf,
  prepareSubject,
  sendExample,
} from '../support/examples.ts';

/**
 * The greatest lengths, in UTF-16 units, at which texts of a body, a query or a path are normalized, folded or trimmed:
 * four times the limit of each text. All other texts are never treated so.
 */
const bounds: Readonly<Record<string, number>> = {
  name: 400,
  search: 400,
  email: 764,
  password: 1020,
  currentPassword: 1020,
  code: 64,
};

/** A text longer than every bound, and costly to normalize: canonical order swaps each pair of its accents. */
const accents = '\u0301\u0316';
const long = ` A${accents.repeat(600)}@b `;

/** The encoding of a text that a request contains within another text. */
const encoded = (text: string): string => Buffer.from(text).toString('base64url');
const clientData = JSON.stringify({ type: long, challenge: encoded(long), origin: long });
const encodedTexts: readonly (readonly [string, 'body' | 'query', string, string])[] = [
  ['GET /api/users', 'query', 'cursor', `${encoded(long)}.${encoded('x')}`],
  ['GET /api/admin/audit-logs', 'query', 'cursor', `${encoded(long)}.${encoded('x')}`],
  ...['POST /api/passkeys', 'POST /api/login/passkey'].flatMap((route) =>
    [clientData, long].map(
      (text) => [route, 'body', 'credential.response.clientDataJSON', encoded(text)] as const,
    ),
  ),
];

/** A credential with all parts of a new credential and all parts of a used credential. */
const credential = {
  ...{ id: 'AA', rawId: 'AA', type: 'public-key' },
  response: Object.fromEntries(
    ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'].map(
      (part) => [part, 'AA'],
    ),
  ),
};

/** A long text for a header: in Latin-1, because headers are bytes, and without letters that have two cases. */
const longOf = (character: string): string => character.repeat(1200);

/** For each header: the text before its long text, the long text, and whether the service folds or trims the whole. */
const headers: Readonly<Record<string, readonly [string, string, boolean]>> = {
  accept: ['application/json;x=', longOf('×'), true],
  'accept-encoding': ['gzip;x=', longOf('÷'), true],
  'accept-language': ['de;x=', longOf('¿'), true],
  'if-none-match': ['', longOf('¡'), true],
  'content-type': ['application/json;x=', longOf('§'), false],
  'user-agent': ['', longOf('«'), false],
};

/** The texts that the service has normalized, folded or trimmed, and the texts that it has normalized. */
const treated: string[] = [];
const normalized: string[] = [];
const methods = [
  'normalize',
  'toLowerCase',
  'toUpperCase',
  'trim',
  'trimStart',
  'trimEnd',
] as const;
const originals = methods.map((method) => [method, String.prototype[method]] as const);
beforeAll(() => {
  for (const [method, original] of originals) {
    String.prototype[method] = function (this: string, ...given: []) {
      treated.push(String(this));
      if (method === 'normalize') normalized.push(String(this));
      return original.apply(this, given);
    };
  }
});
afterAll(() => void Object.assign(String.prototype, Object.fromEntries(originals)));

/** The length of the longest treated text that contains a part. */
const longestWith = (part: string): number =>
  Math.max(0, ...treated.filter((text) => text.includes(part)).map(({ length }) => length));

const service = await serviceForThisFile({ ...everySetting, RESET_URL: '' });
const { api, adminToken, environment } = service;
// Schemas are made with the settings of this process.
for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
afterAll(() => void vi.unstubAllEnvs());
const examples = endpointsIn(exampleRequestsOf(environment));

const contracts = new Map<string, Contract>(
  inForce(all, configFrom(environment)).map(({ contract }) => [contract.route, contract]),
);

type Place = 'body' | 'query' | 'path';

/** The names of fields, and of the fields of objects among them: `credential.id`. */
const namesIn = (fields: object = {}): readonly string[] =>
  Object.entries(fields).flatMap(([name, { entries }]: [string, { entries?: object }]) => [
    name,
    ...namesIn(entries).map((inner) => `${name}.${inner}`),
  ]);

/** The texts of a request, each with its place and its name. */
const textsOf = ({ route, path }: ExampleRequest): readonly (readonly [Place, string])[] => {
  const { body, query } = contracts.get(route) as Contract;
  const names = (of: object | undefined) => Object.keys(of ?? {});
  return [
    ...namesIn(body?.(configFrom(environment), 'admin').entries).map(
      (name) => ['body', name] as const,
    ),
    ...names(query?.(undefined, configFrom(environment))).map((name) => ['query', name] as const),
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ['path', name] as const),
  ];
};

type Json = Readonly<Record<string, unknown>>;

/** An object with another text at a name, which may be a path into the object. */
const withText = (json: Json, name: string, text: string): Json => {
  const [first = '', ...inner] = name.split('.');
  const within = () => withText(json[first] as Json, inner.join('.'), text);
  return { ...json, [first]: inner.length > 0 ? within() : text };
};

/** Sends an example with a long text in one place. */
const sendLong = async (example: ExampleRequest, place: Place, name: string, text = long) => {
  const subject = await prepareSubject(service, adminToken, example);
  const query = `${name}=${encodeURIComponent(text)}`;
  const sent: ExampleRequest = {
    ...example,
    ...(place === 'query' ? { query } : {}),
    ...(place === 'path'
      ? { path: example.path.replace(`{${name}}`, encodeURIComponent(text)) }
      : {}),
    ...(place === 'body' ? { json: (of) => bodyWith(example.json?.(of), name, text) } : {}),
  };
  const token = example.caller !== 'anyone' && place === 'query' ? { token: subject.admin } : {};
  treated.length = 0;
  return sendExample(api, sent, subject, token);
};

const bodyWith = (body: Json | undefined, name: string, text: string): Json =>
  withText({ ...body, ...(name.includes('.') ? { credential } : {}) }, name, text);

const rows = examples.flatMap((example) =>
  textsOf(example).map(([place, name]) => [example.name, place, name, example] as const),
);

describe('A text that is longer than four times its limit', () => {
  it.each(rows)(
    'is neither normalized nor folded nor trimmed: %s, in its %s, %s',
    async (...[, place, name, example]) => {
      const { status } = await sendLong(example, place, name);

      expect(status).toBeLessThan(500);
      expect(longestWith(accents)).toBeLessThanOrEqual(bounds[name] ?? 0);
    },
  );

  it.each(encodedTexts)(
    'is neither normalized nor folded nor trimmed where another text encodes it: %s, in its %s, %s (%#)',
    async (route, place, name, text) => {
      const example = examples.find((one) => one.name === route) as ExampleRequest;

      const { status } = await sendLong(example, place, name, text);

      expect(status).toBe(name === 'cursor' || example.caller === 'user' ? 400 : 401);
      expect(longestWith(accents)).toBe(0);
    },
  );
});

describe('A header, whose length the gateway limits,', () => {
  const sendHeaders = async (example: ExampleRequest, given: Readonly<Record<string, string>>) => {
    const subject = await prepareSubject(service, adminToken, example);
    treated.length = 0;
    normalized.length = 0;
    return sendExample(api, example, subject, { headers: given });
  };

  it.each(examples.map((example) => [example.name, example] as const))(
    'is never normalized, and only certain headers are folded or trimmed: %s',
    async (_, example) => {
      const given = Object.entries(headers).map(([name, [before, text]]) => [name, before + text]);

      const { status } = await sendHeaders(example, Object.fromEntries(given));

      expect(status).toBeLessThan(500);
      for (const [name, [, text, isFolded]] of Object.entries(headers)) {
        expect(
          normalized.filter((one) => one.includes(text)),
          name,
        ).toEqual([]);
        if (!isFolded) expect(longestWith(text), name).toBe(0);
      }
    },
  );

  it.each([
    ['GET /api/profile', 401],
    ['POST /api/password-resets', 202],
  ])(
    'is neither normalized nor folded nor trimmed where it is a token: %s',
    async (route, expected) => {
      const example = examples.find((one) => one.name === route) as ExampleRequest;

      const { status } = await sendHeaders(example, { authorization: `Bearer ${longOf('×')}` });

      expect(status).toBe(expected);
      expect(longestWith(longOf('×'))).toBe(0);
    },
  );
});

describe('A new text that is longer than four times its limit', () => {
  it.each([
    ['POST /api/auth/register', 'name', 'name must be at most 100 characters'],
    ['POST /api/auth/register', 'email', 'email must be at most 191 characters'],
    ['POST /api/auth/register', 'password', 'password must be at most 255 characters'],
    ['PUT /api/users/{id}', 'email', 'email must be at most 191 characters'],
    ['POST /api/v1/users', 'name', 'name must be at most 100 characters'],
    ['POST /api/v1/users', 'email', 'email must be at most 191 characters'],
    ['PUT /api/password-resets', 'password', 'password must be at most 255 characters'],
  ])('is refused with the message of its limit: %s, %s', async (route, name, message) => {
    const example = examples.find((one) => one.route === route) as ExampleRequest;

    expect(outcome(await sendLong(example, 'body', name))).toEqual(refusal(400, message));
  });

  it('is refused with that message also if it consists of white space', async () => {
    const json = { name: ' '.repeat(401), email: uniqueEmail(), password: 'a long password' };

    const answer = await api('POST', '/api/auth/register', { json });

    expect(outcome(answer)).toEqual(refusal(400, 'name must be at most 100 characters'));
  });
});

describe('When an existing text is looked up, a text that is longer than four times its limit', () => {
  const spaces = ' '.repeat(765);
  const logIn = (json: object) => api('POST', '/api/login', { json });

  it.each([long, spaces])('counts as an unknown address at a login (%#)', async (email) => {
    const password = 'a long password';

    const unknown = outcome(await logIn({ email: uniqueEmail(), password }));

    expect(outcome(await logIn({ email, password }))).toEqual(unknown);
  });

  it('counts as a wrong password at a login, and as a wrong current password', async () => {
    const user = await register(api);
    const { id, token, password } = user;
    const change = (currentPassword: string) =>
      api('PUT', `/api/users/${id}`, { token, json: { password, currentPassword } });

    const [login, current] = [await logIn({ ...user, password: long }), await change(long)];

    expect(outcome(login)).toEqual(refusal(401, 'Invalid credentials'));
    expect(outcome(current)).toEqual(refusal(403, 'Current password is wrong'));
  });

  it('counts as an unknown address at a reset and at a lookup', async () => {
    const reset = (email: string) => api('POST', '/api/password-resets', { json: { email } });
    const lookUp = (email: string) =>
      api('GET', `/api/users?email=${encodeURIComponent(email)}`, { token: adminToken });

    for (const ask of [reset, lookUp]) {
      expect(outcome(await ask(long))).toEqual(outcome(await ask(uniqueEmail())));
    }
  });
});
