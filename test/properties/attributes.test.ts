/**
 * Attributes, whatever is written: what is stored is what is shown, what tokens claim, and what an export takes
 * elsewhere. The claims of a token stay within their limit, whatever is stored.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { afterEach, expect, it, vi } from 'vitest';
import {
  type Attribute,
  attributeList,
  attributeTypes,
  mostClaimBytes,
} from '../../lib/ground/attribute.ts';
import { issueToken } from '../../lib/keys/token.ts';
import { attributeClaims } from '../../lib/options/attributes/attributes.ts';
import { type Account, logIn, register, uniqueEmail } from '../support/client.ts';
import { type OperatedService, operatedServiceForThisFile } from '../support/operator.ts';
import { counted, holds, seed } from '../support/runs.ts';
import { anyText, anyValue } from './texts.ts';

const choices = ['free', 'pro', '"\\ü😀'];
const declared: readonly Attribute[] = [
  { name: 'nick', type: 'text', maxLength: 20, writer: 'user' },
  { name: 'seats', type: 'number', writer: 'user' },
  { name: 'locale', type: 'choice', choices, writer: 'user' },
  { name: 'terms', type: 'boolean', token: true },
  { name: 'born', type: 'date', token: true },
  { name: 'plan', type: 'choice', choices, token: true },
  { name: 'company', type: 'text', maxLength: 20, token: true },
];
const settings = { SESSION_DAYS: '90', USER_ATTRIBUTES: JSON.stringify(declared) };
const service = await operatedServiceForThisFile(settings);
const elsewhere = await operatedServiceForThisFile({ ...settings, ADMIN_EMAIL: uniqueEmail() });
const { adminToken } = service;
const api = counted(([...request]: Parameters<typeof service.api>) => service.api(...request));

afterEach(() => vi.unstubAllEnvs());

type Values = Readonly<Record<string, unknown>>;

const most = Number.MAX_SAFE_INTEGER;
/** Values that the types allow; texts with white space around some, in characters of one to four bytes. */
const sound = {
  text: fc
    .tuple(
      fc.constantFrom('', ' ', '\n'),
      fc.string({ unit: fc.constantFrom('a', '"', '\\', 'é', '\u2028', '😀'), maxLength: 18 }),
    )
    .map(([space, text]) => `${space}x${text}y${space}`),
  number: fc.oneof(fc.maxSafeInteger(), fc.double({ min: -most, max: most, noNaN: true })),
  boolean: fc.boolean(),
  choice: fc.constantFrom(...choices),
  date: fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((date) => date.toJSON().slice(0, 10)),
} satisfies Readonly<Record<Attribute['type'], fc.Arbitrary<unknown>>>;

const soundValues = (attributes: readonly Attribute[]): fc.Arbitrary<Values> =>
  fc.record(
    Object.fromEntries(
      attributes.map(({ name, type }) => [name, fc.option<unknown>(sound[type], { freq: 4 })]),
    ),
    { requiredKeys: [] },
  );

const anyName = fc.oneof(fc.constantFrom(...declared.map(({ name }) => name)), anyText);
const anyValues: fc.Arbitrary<Values> = fc.dictionary(anyName, anyValue, { maxKeys: 3 });

const writers = ['user', 'admin'] as const;
interface Write {
  readonly by: (typeof writers)[number];
  readonly given: Values;
}
const write: fc.Arbitrary<Write> = fc.constantFrom(...writers).chain((by) =>
  fc.record({
    by: fc.constant(by),
    given: fc.oneof(
      {
        weight: 6,
        arbitrary: soundValues(
          declared.filter(({ writer }) => by === 'admin' || writer === 'user'),
        ),
      },
      { weight: 1, arbitrary: anyValues },
    ),
  }),
);

/** As JSON has it, which has one zero. */
const asJson = (values: Values): Values => JSON.parse(JSON.stringify(values));

/** The attributes of a user after a write that is accepted. */
const after = (before: Values, given: Values): Values => {
  const trimmed = Object.entries(given).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.trim() : value,
  ]);
  const all = Object.entries({ ...before, ...Object.fromEntries(trimmed) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
};

const claimed = (values: Values) =>
  Object.fromEntries(
    declared
      .filter(({ name, token }) => token && name in values)
      .map(({ name }) => [`attr:${name}`, values[name]]),
  );
const claimsIn = (token: string) =>
  Object.fromEntries(Object.entries(decodeJwt(token)).filter(([name]) => name.startsWith('attr:')));

/** The attributes of all users, as they are stored. */
const storedAt = async ({ users }: Pick<OperatedService, 'users'>) =>
  new Map((await users()).map(({ email, attributes }) => [email, attributes]));

/** Sends writes one after the other. @returns what the user has then, by the statuses of the responses */
const writeAll = async (account: Account, writes: readonly Write[]): Promise<Values> => {
  let values: Values = {};
  for (const { by, given } of writes) {
    const token = by === 'admin' ? adminToken : account.token;
    const json = { name: 'n', attributes: given };
    const { status, body } = await api(['PUT', `/api/users/${account.id}`, { token, json }]);
    expect([200, 400, 403]).toContain(status);
    if (status !== 200) continue;
    values = after(values, asJson(given));
    expect(body.attributes).toEqual(values);
  }
  return values;
};

/** The attributes of a user by each response that shows them. */
const shownOf = async ({ id, email, token }: Account): Promise<readonly unknown[]> => {
  const query = `attributes=true&email=${encodeURIComponent(email)}`;
  const [shown, own, listed] = [
    await api(['GET', `/api/users/${id}`, { token: adminToken }]),
    await api(['GET', '/api/profile', { token }]),
    await api(['GET', `/api/users?${query}`, { token: adminToken }]),
  ];
  return [shown.body, own.body.data, listed.body[0]].map(({ attributes }) => attributes);
};

it('The values that are written are the values that are stored, shown and claimed', async () => {
  const expected = new Map<string, Values>();

  await holds(
    60,
    fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 6 }), async (writes) => {
      const account = await register(service.api);
      const values = await writeAll(account, writes);

      expect(await shownOf(account)).toEqual([values, values, values]);
      expect(claimsIn(await logIn(service.api, account))).toEqual(claimed(values));
      expected.set(account.email, values);
    }),
  );

  const stored = await storedAt(service);
  for (const [email, values] of expected) {
    expect(JSON.parse(String(stored.get(email) ?? '{}'))).toEqual(values);
  }
});

it('Valid values are never refused', async () => {
  const account = await register(service.api);
  const token = adminToken;
  await holds(
    60,
    fc.asyncProperty(soundValues(declared), async (attributes) => {
      const json = { name: 'n', attributes };
      const { status } = await api(['PUT', `/api/users/${account.id}`, { token, json }]);
      expect(status).toBe(200);
    }),
  );
});

it('All users are exported, and an import of the export stores the same attributes', async () => {
  const [{ password_hash } = {}] = await service.users();
  const lines = fc.record({ ours: soundValues(declared), theirs: anyValues });
  const text = fc
    .sample(lines, { seed, numRuns: 60 })
    .map(({ ours, theirs }) =>
      JSON.stringify({
        name: 'N',
        email: uniqueEmail(),
        password_hash,
        attributes: { ...theirs, ...ours },
      }),
    )
    .join('\n');
  const [given, exported] = ['given', 'exported'].map((name) => join(service.folder, name));
  await writeFile(String(given), text);

  const { stdout } = await service.operate(['import-users', String(given)]);
  await service.operate(['export-users', String(exported)]);
  const { status } = await elsewhere.operate(['import-users', String(exported)]);

  const [, imported] = /^Imported: (\d+)\./.exec(stdout) ?? [];
  expect(Number(imported)).toBeGreaterThan(20);
  expect(status).toBe(0);
  const [before, there] = [await storedAt(service), await storedAt(elsewhere)];
  there.delete(elsewhere.admin.email);
  expect(there).toEqual(before);
});

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,30}$/).map((text) => `x${text}`);
/** Units that take more bytes in JSON than they have characters; the last two are no characters of a text. */
const costly = ['"', '\\', '\u2028', '😀', '\u{10ffff}', 'a', '\u0007', '\ud800'] as const;
const costlyText = fc
  .tuple(fc.array(fc.constantFrom(...costly), { minLength: 1, maxLength: 2 }), fc.nat(130))
  .map(([units, length]) => units.join('').repeat(length + 1));
const declaration = fc.record({ name, type: fc.constantFrom(...attributeTypes) }).chain((plain) =>
  fc
    .record({
      maxLength: fc.integer({ min: 1, max: 125 }),
      choices: fc.uniqueArray(
        costlyText.map((text) => [...text].slice(0, 50).join('')),
        { minLength: 1, maxLength: 5 },
      ),
    })
    .map(({ maxLength, choices: all }) => ({
      ...plain,
      token: true,
      ...(plain.type === 'text' ? { maxLength } : {}),
      ...(plain.type === 'choice' ? { choices: all } : {}),
    })),
);
/** Whatever may be stored of each type: the longest that fits, and what does not fit. */
const stored = fc.record({
  text: costlyText,
  number: fc.oneof(
    fc.constantFrom(-1.234567890123456e-300, -0.000001234567890123456),
    fc.double({ noNaN: true }),
  ),
  boolean: fc.constantFrom(false, 'false'),
  choice: costlyText,
  date: fc.constantFrom('2024-02-29', '2024-02-30'),
  other: anyValue,
  isOther: fc.nat(19).map((chance) => chance === 0),
});
const isAllowed = (list: unknown) => attributeList.isAllowed(JSON.stringify(list));

it('The claims of a token never take more bytes than their limit, whatever is stored', async () => {
  vi.stubEnv('JWT_SECRET', 'a secret of some length, for this test alone');
  const lists = fc.uniqueArray(declaration, {
    minLength: 1,
    maxLength: 20,
    selector: (attribute) => attribute.name,
  });
  const user = { id: most, email: 'ada@example.org', role: 'user' } as const;
  const bytesOf = async (claims: object) => {
    const [, payload = ''] = (await issueToken(user, { claims, now: new Date(0) })).split('.');
    return Buffer.from(payload, 'base64url').length;
  };
  const least = await bytesOf({});
  let largest = 0;

  await holds(
    4000,
    fc.asyncProperty(
      lists,
      fc.array(stored, { minLength: 20, maxLength: 20 }),
      async (all, values) => {
        // As many of them as may be declared.
        const list = all.filter((each) => isAllowed([each]));
        while (list.length > 0 && !isAllowed(list)) list.pop();
        vi.stubEnv('USER_ATTRIBUTES', list.length > 0 ? JSON.stringify(list) : '');
        const entries = list.map(({ name: own, type, maxLength, choices: words }, i) => {
          const { isOther, other, ...ofType } = values[i] as NonNullable<(typeof values)[number]>;
          const text = [...ofType.text].slice(0, maxLength).join('');
          return [own, isOther ? other : { ...ofType, text, choice: words?.[0] }[type]];
        });
        const attributes = JSON.stringify(Object.fromEntries(entries));

        const bytes = (await bytesOf(attributeClaims({ attributes }))) - least;

        expect(bytes).toBeLessThanOrEqual(mostClaimBytes);
        largest = Math.max(largest, bytes);
      },
    ),
  );
  // The cases come near to the limit.
  expect(largest).toBeGreaterThan(490);
});
