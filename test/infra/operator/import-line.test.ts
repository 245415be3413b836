import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Candidate, parseLine } from '../../../infra/operator/import-line.ts';

const now = '2026-11-26T12:00:00.000Z';
beforeEach(() => void vi.useFakeTimers({ now: new Date(now), toFake: ['Date'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const hash = `$2b$04$${'a'.repeat(21)}e${'a'.repeat(30)}e`;
const given = { name: 'Ada', email: 'ada@example.com', password_hash: hash };
const identity = { issuer: 'https://a.example', subject: '1#2' };

const parse = (fields: object = {}) => parseLine(7, JSON.stringify({ ...given, ...fields }));

beforeEach(
  () => void vi.stubEnv('USER_ATTRIBUTES', '[{"name":"nick","type":"text","maxLength":5}]'),
);

/** Settings with which addresses are verified. */
const verifies = { EMAIL_VERIFICATION: 'on' };
const stub = (settings: Readonly<Record<string, string>>) => {
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
};

describe('A line of an import', () => {
  const kept = { ...given, role: 'user', created_at: now, email_verified: false };

  // biome-ignore format: a table
  it.each<[object, object, (string | number | null)?]>([
    [{}, {}],
    [{ role: null, created_at: null, suspended_at: null, id: null, identities: [] }, {}],
    [{ name: ' Ada ', email: ' Ada@example.com\n' }, { name: 'Ada', email: 'Ada@example.com' }],
    [{ email: 'jörg,x@example.com' }, { email: 'jörg,x@example.com' }],
    [{ role: 'admin' }, { role: 'admin' }],
    [{ auditor: true }, { auditor: true }],
    [{ attributes: null }, {}],
    [{ attributes: { nick: ' x ', gone: null, old: 7 } }, { attributes: '{"nick":"x","old":7}' }],
    [{ password: 'p', version: 'v', import_mark: 'm', second_factor: {} }, {}],
    [{ email_verified: true }, { email_verified: true }],
    [{ password_hash: null }, { password_hash: `$2b$04$${'.'.repeat(53)}` }],
    ...[
      hash.replace('$2b$', '$2a$'),
      hash.replace('$2b$', '$2y$'),
      `$bcrypt-sha256$v=1${hash}`,
    ].map((password_hash): [object, object] => [{ password_hash }, { password_hash }]),
    ...['9f1c', '', 17, Number.MAX_SAFE_INTEGER].map((id): [object, object, string | number] => [{ id }, {}, id]),
  ])('with %j becomes a user with %j', (fields, expected, oldId = null) => {
    expect(parse(fields)).toEqual({ line: 7, user: { ...kept, ...expected }, oldId });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'keeps an attribute with a name that objects have: %s',
    (name) => {
      const { user } = parse({ attributes: { [name]: 'x', nick: 'y' } }) as Candidate;

      expect(user.attributes).toBe(`{"${name}":"x","nick":"y"}`);
    },
  );

  const times = {
    '1970-01-01T00:00:00Z': '1970-01-01T00:00:00.000Z',
    '2019-01-01T00:00:00.5Z': '2019-01-01T00:00:00.500Z',
    '2020-02-29T12:00:00+02:00': '2020-02-29T10:00:00.000Z',
    '2024-03-01': '2024-03-01T00:00:00.000Z',
    '2024-03-01 12:34:56.789+00': '2024-03-01T12:34:56.789Z',
    '2024-03-01 12:34:56+02': '2024-03-01T10:34:56.000Z',
    '2024-03-01 12:34:56.789123+05:30': '2024-03-01T07:04:56.790Z',
    '2024-02-29 23:34:56.7-03': '2024-03-01T02:34:56.700Z',
    [now]: now,
  };
  it.each(Object.entries(times))('with the time %s is read as %s', (text, time) => {
    for (const name of ['created_at', 'suspended_at']) {
      expect(parse({ [name]: text })).toMatchObject({ user: { [name]: time } });
    }
  });

  it('links identities from the time in the line, or from now on', () => {
    const more = { issuer: 'https://b.example', subject: 'x', email: 'ada@b.example' };
    const created_at = '2026-02-28T09:05:00.000Z';

    const { user } = parse({ identities: [identity, { ...more, created_at }] }) as Candidate;

    const id = expect.stringMatching(/^[\w-]{16}$/);
    expect(user.identities).toEqual([
      { ...identity, id, email: null, created_at: now },
      { ...more, id, created_at },
    ]);
  });

  it('may spell the issuer of Google as tokens of Google do', () => {
    const identities = [{ issuer: 'accounts.google.com', subject: '1' }];

    expect(parse({ identities })).toMatchObject({
      user: { identities: [{ issuer: 'https://accounts.google.com', subject: '1' }] },
    });
  });

  it.each([true, false])('says whether the address is verified: %s', (email_verified) => {
    stub(verifies);

    expect(parse({ email_verified })).toMatchObject({ user: { ...kept, email_verified } });
  });
});

describe('A line that breaks a rule', () => {
  it.each(['', '{"name":"N"', 'null', '7', '"{}"', '[]', '[{}]'])(
    'is refused if it is not a JSON object: %s',
    (text) => {
      expect(parseLine(7, text)).toEqual({ fault: 'is not a JSON object' });
    },
  );

  it.each([
    [{ nick: 7 }, 'attributes.nick must be a string'],
    [{ nick: 'abcdef' }, 'attributes.nick must be at most 5 characters'],
    [{ old: [] }, 'attributes that are not declared must be text, numbers, true or false'],
    [{ old: 'x'.repeat(4096) }, 'attributes must take at most 4,096 bytes in all'],
    [['a'], 'attributes must be an object'],
    ['a', 'attributes must be an object'],
  ])('is refused if it has the attributes %j', (attributes, fault) => {
    expect(parse({ attributes })).toEqual({ fault });
    expect(parse({ attributes, name: '' })).toEqual({ fault: `name is required; ${fault}` });
  });

  it('is refused if it has a number that JSON cannot represent', () => {
    const line = JSON.stringify({ ...given, attributes: { old: 7 } }).replace(':7', ':1e999');

    expect(parseLine(7, line)).toEqual({
      fault: 'attributes that are not declared must be text, numbers, true or false',
    });
  });

  const isTime =
    'must be a time between 1970 and now, with its offset from UTC, such as 2026-01-31T09:05:00Z';
  const noTimes = [
    ...['12:00', '2024-03-01 12:34:56.789', '2024-03-01 12:34:56+2', '2023-02-29T00:00:00Z'],
    ...['1969-12-31T23:59:59Z', '2026-11-26T12:00:00.001Z', 1_600_000_000],
  ];
  const isHash = 'must be a bcrypt hash: $2a$, $2b$ or $2y$, a cost from 04 to 16, 60 characters';
  const noHashes = ['p', `${hash}a`, hash.replace('2b', '2x'), hash.replace('04', '03')];
  const isCheap =
    "must have a cost of at most 4, the service's BCRYPT_COST: raise it (setting bcryptCost) first";
  const costly = [hash.replace('04', '05'), `$bcrypt-sha256$v=1${hash.replace('04', '16')}`];
  const areIdentities = 'must be a list of at most 10 objects with issuer and subject';
  const long = 'x'.repeat(256);
  const wrong: readonly object[] = [
    ...[{ issuer: 'a#b' }, { issuer: '' }, { issuer: long }],
    ...[{ subject: '' }, { subject: long }, { subject: undefined }],
    ...[{ email: 'ada' }, { created_at: 'x' }],
  ];
  const eleven = Array.from({ length: 11 }, (_, i) => ({ ...identity, subject: String(i) }));
  const noIdentities = [
    ...wrong.map((each) => [{ ...identity, ...each }]),
    ...[[identity, identity], eleven, identity, 'x'],
    ['https://', ''].map((scheme) => ({ ...identity, issuer: `${scheme}accounts.google.com` })),
  ];
  const isId = 'must be text, or a whole number up to 9007199254740991: put others in quotes';
  const isMailable = 'must be an address that mails can be sent to';

  /** A field, its rule, values that break the rule, and the settings under which the values are tried. */
  const rules: [string, string, readonly unknown[], typeof verifies?][] = [
    ['name', 'is required', [undefined, null, '']],
    ['name', 'must be at most 100 characters', ['x'.repeat(101)]],
    ['email', 'is required', [undefined, null]],
    ['email', 'must be a valid email address', ['ada']],
    ['email', isMailable, ['jörg@example.com', 'a,b@example.com'], verifies],
    ['role', 'must be one of user, admin', ['root']],
    ['auditor', 'must be true or false', [null, 'yes', 1]],
    ['password_hash', 'is required', [undefined, '']],
    ['password_hash', isHash, noHashes],
    ['password_hash', isCheap, costly],
    ['created_at', isTime, noTimes],
    ['suspended_at', isTime, noTimes],
    ['id', isId, [2 ** 53, 1.5, true, {}]],
    ['identities', areIdentities, noIdentities],
    ['email_verified', 'must be true or false', ['yes']],
    ['email_verified', 'must be true or false', ['yes'], verifies],
    ['email_verified', 'is required', [undefined, null], verifies],
  ];
  it.each<(typeof rules)[number]>(rules)(
    'is rejected with the rule, and the value is not quoted: %s %s',
    (name, rule, values, more) => {
      stub(more ?? {});
      const verified = more && { email_verified: true };

      for (const value of values) {
        const fault = `${name} ${rule}`;
        expect(parse({ ...verified, [name]: value }), String(value)).toEqual({ fault });
      }
    },
  );

  it('is rejected with all the rules that it breaks', () => {
    const fault =
      'name is required; email must be a valid email address; role must be one of user, admin; password_hash is required';

    expect(parse({ name: '', email: 'ada', role: 'root', password_hash: undefined })).toEqual({
      fault,
    });
  });
});
