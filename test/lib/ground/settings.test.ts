import { describe, expect, it, vi } from 'vitest';
import {
  type Allowed,
  ConfigError,
  ruleOf,
  type Setting,
  valuesIn,
  variableOf,
} from '../../../lib/ground/setting.ts';
import {
  type Config,
  configFrom,
  sendsMail,
  serviceSettings,
  settings,
} from '../../../lib/ground/settings.ts';

type Name = keyof Config;

/**
 * All settings. Their bounds, values and defaults are right: test/infra/settings-tables.test.ts compares them with the
 * tables of infra/settings.md, except the few below.
 */
const all = Object.entries(settings) as [Name, Setting][];

const rowsOf = <Kind extends Allowed>(isKind: (allowed: Allowed) => allowed is Kind) =>
  all.flatMap(([name, setting]) => {
    const { allowed, default: standard } = setting;
    return isKind(allowed) ? [[name, variableOf(name), allowed, standard] as const] : [];
  });
type Bounds = Extract<Allowed, { readonly from: number }>;
const numbers = rowsOf((allowed): allowed is Bounds => 'from' in allowed);
type Choices = Extract<Allowed, readonly unknown[]>;
const choices = rowsOf((allowed): allowed is Choices => Array.isArray(allowed));
type Text = Extract<Allowed, { readonly rule: string }>;
const texts = rowsOf((allowed): allowed is Text => 'rule' in allowed);

const refusalOf = (read: () => unknown): string => {
  try {
    return `accepted ${read()}`;
  } catch (error) {
    return error instanceof ConfigError ? error.message : String(error);
  }
};

const refusal = (setting: Name, env: Record<string, string>) =>
  refusalOf(() => configFrom(env)[setting]);

describe('A number among the settings', () => {
  it.each(numbers)('%s is read from %s, within its bounds', (name, variable, allowed, standard) => {
    const { from, to, or } = allowed;
    const others = or === undefined ? [] : [or];

    for (const value of [from, to, ...others]) {
      expect(configFrom({ [variable]: String(value) })[name]).toBe(value);
    }
    expect(configFrom({})[name]).toBe(Number(standard));
    expect(configFrom({ [variable]: '' })[name]).toBe(Number(standard));
    for (const value of [String(from - 1), `${to + 1}`].filter((text) => text !== String(or))) {
      expect(refusal(name, { [variable]: value })).toBe(
        `Environment variable ${variable} must be ${or === undefined ? '' : '0, or '}a whole number from ${from} to ${to}`,
      );
    }
  });

  it.each([
    ...['1e1', '0x5', ' 5', '5 ', '5.0', '+5', '-5', 'five', 'NaN', 'undefined', '٥'],
    '9'.repeat(400),
  ])('is refused when it is not written in digits: %j', (value) => {
    expect(refusal('bcryptCost', { BCRYPT_COST: value })).toBe(
      'Environment variable BCRYPT_COST must be a whole number from 4 to 16',
    );
  });

  it.each(['00', '-0', '29', 'never'])('may be 0 for ever, but must not be %j', (value) => {
    expect(configFrom({ AUDIT_RETENTION_DAYS: '0' }).auditRetentionDays).toBe(0);
    expect(refusal('auditRetentionDays', { AUDIT_RETENTION_DAYS: value })).toBe(
      'Environment variable AUDIT_RETENTION_DAYS must be 0, or a whole number from 30 to 36500',
    );
  });
});

describe('A choice among the settings', () => {
  it.each(choices)('%s is read from %s or has its default', (name, variable, values, standard) => {
    for (const value of values) expect(configFrom({ [variable]: String(value) })[name]).toBe(value);
    expect(values).toContain(standard);
    expect(configFrom({})[name]).toBe(standard);
    expect(configFrom({ [variable]: '' })[name]).toBe(standard);
    for (const value of ['hunter2', 'constructor', values.join(), ` ${values[0]}`]) {
      expect(refusal(name, { [variable]: value })).toBe(
        `Environment variable ${variable} must be one of ${values.join(', ')}`,
      );
    }
  });
});

describe('A text among the settings', () => {
  it.each(texts)('%s is empty or required if %s is not set', (name, variable, _, standard) => {
    for (const env of [{}, { [variable]: '' }]) {
      expect(refusal(name, env)).toBe(
        standard === undefined ? `Environment variable ${variable} is not set` : 'accepted ',
      );
    }
  });

  it('must be set if no function can work without it', () => {
    const required = all.filter(([, setting]) => !('default' in setting)).map(([name]) => name);

    expect(required).toEqual(['usersTable', 'auditTable', 'staticFiles']);
    expect(configFrom({ STATIC_FILES: 'any text' }).staticFiles).toBe('any text');
  });
});

describe('The settings that only functions read', () => {
  const others = all.filter(([name]) => !Object.hasOwn(serviceSettings, name));
  const isText = ([, setting]: (typeof all)[number]) => ruleOf(setting) === 'must be text';

  it('have the expected variables, rules and defaults', () => {
    expect(others.filter(isText).map(([name]) => variableOf(name))).toEqual([
      ...['USERS_TABLE', 'AUDIT_TABLE', 'AUDIT_ARCHIVE_BUCKET', 'AUDIT_ARCHIVE_FOLDER'],
      ...['AUDIT_ARCHIVE_URL', 'AUDIT_SEAL_KEY', 'MAIL_FUNCTION_URL'],
      ...['SECOND_FACTOR_KEY', 'KMS_URL'],
      ...['SECOND_FACTOR_LOCAL_KEY', 'TOKEN_SIGNING_KEY', 'TOKEN_KEYS', 'API_URL'],
      ...['STATIC_FILES', 'EVENTS_URL', 'EVENT_BUS', 'EVENT_SOURCE', 'REFUSED_EVENTS_QUEUE_URL'],
    ]);
    const rules = others
      .filter((row) => !isText(row))
      .map(([name, setting]) => [`${variableOf(name)}=${setting.default}`, ruleOf(setting)]);
    expect(Object.fromEntries(rules)).toEqual({
      'AUDIT_RETENTION_DAYS=0': 'must be 0, or a whole number from 30 to 36500',
      'AUDIT_SEAL_INTERVAL=300': 'must be a whole number from 1 to 86400',
      'AUDIT_SEAL=on': 'must be one of on, paused, off',
      'AUDIT_ARCHIVE_DAYS=0': 'must be 0, or a whole number from 1 to 36500',
      'AUDIT_LOCK_DAYS=0': 'must be 0, or a whole number from 1 to 36500',
      'AUDIT_ARCHIVE_TAKEN_OVER=no': 'must be one of yes, no',
    });
  });
});

it('Mails are sent if, and only if, a sender is set', () => {
  expect([sendsMail({ mailFrom: 'a@example.com' }), sendsMail({ mailFrom: '' })]).toEqual([
    true,
    false,
  ]);
});

describe('configFrom', () => {
  it('never repeats a refused value, because it may be a secret in the wrong place', () => {
    for (const [name, variable] of [...numbers, ...choices]) {
      expect(refusal(name, { [variable]: 'hunter2' })).not.toContain('hunter2');
    }
  });

  it('requires a setting only when it is read', () => {
    const config = configFrom({ USERS_TABLE: 'users', BCRYPT_COST: 'nonsense' });

    expect(config.usersTable).toBe('users');
    expect(() => config.bcryptCost).toThrow(ConfigError);
    expect(() => config.auditTable).toThrow(ConfigError);
  });

  it('checks a text once, however often its setting is used', () => {
    const isAllowed = vi.fn(() => true);
    const values = valuesIn({ NAME: 'Ada' }, { name: { allowed: { rule: 'text', isAllowed } } });

    expect([values.name, values.name]).toEqual(['Ada', 'Ada']);
    expect(isAllowed).toHaveBeenCalledOnce();
  });

  it('uses the present value of the environment variable', () => {
    const env = { BCRYPT_COST: '5' };
    const config = configFrom(env);

    const first = config.bcryptCost;
    env.BCRYPT_COST = '6';

    expect([first, config.bcryptCost]).toEqual([5, 6]);
  });
});
