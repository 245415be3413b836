import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { bodyEndpoints, type Field } from '../support/body-endpoints.ts';

const { endpoints, state, markedEmail } = await bodyEndpoints(await serviceForThisFile());
// These have rules of their own: see auth/login.test.ts and test/lib/users/schema.test.ts.
const storing = endpoints.filter(({ title }) => !/login|v1/.test(title));

const notStrings = [1, 0, true, false, {}, { S: 'x' }, { $ne: '' }, [], ['x'], [['x']]];
const illFormed = ['\ud800', 'a\udc00b', '\udc00\ud800'];

const badValues: Readonly<Record<Field, readonly (readonly [string, readonly unknown[]])[]>> = {
  name: [
    ['name must be a string', notStrings],
    ['name must be well-formed Unicode', illFormed],
    [
      'name must be at most 100 characters',
      ['x'.repeat(101), '😀'.repeat(101), 'x'.repeat(60_000)],
    ],
  ],
  email: [
    ['email must be a string', notStrings],
    ['email must be well-formed Unicode', illFormed.map((text) => `a@${text}`)],
    [
      'email must be at most 191 characters',
      [`${'x'.repeat(190)}@b`, `${'😀'.repeat(190)}@b`, `${'x'.repeat(60_000)}@b`],
    ],
    [
      'email must be a valid email address',
      [
        ...['someone', '@', 'a@', '@b', 'a@b@c', 'a@@b', 'a b@c', 'a@b c', 'a\t@b', 'a\n@b'],
        ...['a\0@b', 'a@b\u0007c', 'a@\u007f', 'a@b\u0085c', 'a\u00a0@b', 'a@\u2028b'],
      ],
    ],
  ],
  password: [
    ['password must be a string', notStrings],
    ['password must be well-formed Unicode', illFormed],
    [
      'password must be at most 255 characters',
      ['x'.repeat(256), '😀'.repeat(256), 'x'.repeat(60_000)],
    ],
  ],
};

const boundaries: Readonly<Record<Field, () => readonly string[]>> = {
  name: () => ['x', 'x'.repeat(100), '😀'.repeat(100), ` ${'x'.repeat(100)} `, "O'Neil; --", '%s'],
  email: () => [
    markedEmail(),
    markedEmail().padStart(191, 'x'),
    `${'😀'.repeat(100)}${markedEmail()}`,
    ` ${markedEmail().padStart(191, 'x')}\n`,
    `a+b'"<>;--{}$${markedEmail()}`,
    `ünï.${markedEmail()}`,
  ],
  password: () => ['x', ' ', 'x'.repeat(255), '😀'.repeat(255), '\0', '{"$ne":""}'],
};

const short = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 20)}… of ${text.length}` : text;
};

const cases = storing.flatMap(({ fields, ...endpoint }) =>
  fields.map((field) => ({ ...endpoint, field })),
);

describe.each(cases)('$title, field $field', ({ field, send, sound }) => {
  const refused = badValues[field].flatMap(([message, values]) =>
    values.map((value) => ({ message, value, shown: short(value) })),
  );

  it.each(refused)('answers 400 $message to $shown', async ({ message, value }) => {
    const answer = await send({ json: { ...sound(), [field]: value } });

    expect(outcome(answer)).toEqual(refusal(400, message));
  });
});

describe('All of these together', () => {
  it('have changed nothing and left no audit entry', async () => {
    expect(await state()).toEqual({
      user: expect.objectContaining({ name: 'Some One', role: 'user' }),
      memoryUser: expect.objectContaining({ name: 'Some One' }),
      others: [],
      entries: [],
    });
  });
});

describe.each(cases)('$title, field $field', ({ field, send, sound, success }) => {
  it('takes everything up to the limits, as it was given but for the white space around', async () => {
    for (const value of boundaries[field]()) {
      const answer = await send({ json: { ...sound(), [field]: value } });

      expect(answer.status, short(value)).toBe(success);
      if (answer.body[field]) expect(answer.body[field]).toBe(value.trim());
    }
  });
});
