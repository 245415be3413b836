import { describe, expect, it } from 'vitest';
import { isShorter, type Rule, sendsMail, serviceSettings } from '../../lib/settings.ts';

type Name = keyof typeof serviceSettings;
const ruleOf = (name: Name) => serviceSettings[name].rule as Rule<string | number>;
const strictnessOf = (name: Name, texts: readonly string[]) => {
  const { parse, strictness } = ruleOf(name);
  return texts.map((text) => strictness?.(parse(text) as string | number));
};

describe('How strict a setting is', () => {
  it.each<[Name, readonly string[]]>([
    ['userDirectory', ['open', 'closed']],
    ['loginAnswers', ['distinct', 'uniform']],
    ['sessions', ['stateless', 'revocable']],
    ['currentPassword', ['optional', 'required']],
    ['v1Users', ['on', 'off']],
    ['docs', ['on', 'off']],
    ['passwordMinLength', ['1', '2', '255']],
    ['loginFailuresPerAccount', ['0', '1000000', '2', '1']],
    ['loginFailuresPerAddress', ['0', '1000000', '2', '1']],
    ['registrationsPerAddress', ['0', '1000000', '2', '1']],
  ])('of %s grows from value to value of %j', (name, fromLaxest) => {
    const found = strictnessOf(name, fromLaxest);

    expect(new Set(found).size).toBe(fromLaxest.length);
    expect(found).toEqual(found.toSorted((a = Number.NaN, b = Number.NaN) => a - b));
  });

  it('grows with the cost of hashes that a deployment may choose', () => {
    const { strictness } = serviceSettings.bcryptCost.deployed;

    expect([10, 12, 14].map((cost) => strictness?.(cost))).toEqual([10, 12, 14]);
  });

  it.each<Name>(['mailFrom', 'resetUrl', 'auditDetail', 'auditRetentionDays', 'auditArchiveDays'])(
    'is not told of %s, no value of which is stricter than another',
    (name) => {
      expect(ruleOf(name).strictness).toBeUndefined();
    },
  );
});

describe('isShorter', () => {
  it.each([
    [1, 2, true],
    [2, 1, false],
    [2, 2, false],
    [36_500, 0, true],
    [0, 36_500, false],
    [0, 0, false],
  ])('compares %d days with %d, of which 0 is for ever: %s', (one, other, expected) => {
    expect(isShorter(one, other)).toBe(expected);
  });
});

describe('sendsMail', () => {
  it.each([
    ['a@example.com', 'https://app.example.com', true],
    ['a@example.com', '', false],
    ['', 'https://app.example.com', false],
    ['', '', false],
  ])('takes both settings: of %j and %j it is %s', (mailFrom, resetUrl, expected) => {
    expect(sendsMail({ mailFrom, resetUrl })).toBe(expected);
  });
});
