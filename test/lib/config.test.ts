import { describe, expect, it } from 'vitest';
import { type Config, ConfigError, configFrom } from '../../lib/config.ts';

type Setting = keyof Config;

const numbers: readonly [
  Setting,
  string,
  { minimum: number; maximum: number; otherwise: number },
][] = [
  ['passwordMinLength', 'PASSWORD_MIN_LENGTH', { minimum: 1, maximum: 255, otherwise: 1 }],
  ['bcryptCost', 'BCRYPT_COST', { minimum: 4, maximum: 16, otherwise: 10 }],
  [
    'loginFailuresPerAccount',
    'LOGIN_FAILURES_PER_ACCOUNT',
    { minimum: 0, maximum: 1_000_000, otherwise: 10 },
  ],
  [
    'loginFailuresPerAddress',
    'LOGIN_FAILURES_PER_ADDRESS',
    { minimum: 0, maximum: 1_000_000, otherwise: 100 },
  ],
  [
    'registrationsPerAddress',
    'REGISTRATIONS_PER_ADDRESS',
    { minimum: 0, maximum: 1_000_000, otherwise: 0 },
  ],
  ['auditSealInterval', 'AUDIT_SEAL_INTERVAL', { minimum: 1, maximum: 86_400, otherwise: 300 }],
  ['storagePatience', 'STORAGE_PATIENCE', { minimum: 1, maximum: 10, otherwise: 1 }],
];

const choices: readonly [Setting, string, readonly string[]][] = [
  ['userDirectory', 'USER_DIRECTORY', ['open', 'closed']],
  ['loginAnswers', 'LOGIN_ANSWERS', ['distinct', 'uniform']],
  ['v1Users', 'V1_USERS', ['on', 'off']],
  ['docs', 'DOCS', ['on', 'off']],
  ['sessions', 'SESSIONS', ['stateless', 'revocable']],
  ['currentPassword', 'CURRENT_PASSWORD', ['optional', 'required']],
];

const tableNames: readonly [Setting, string][] = [
  ['usersTable', 'USERS_TABLE'],
  ['auditTable', 'AUDIT_TABLE'],
];

const faultOf = (setting: Setting, env: Record<string, string>): Error => {
  try {
    return new Error(`accepted ${configFrom(env)[setting]}`);
  } catch (error) {
    return error as Error;
  }
};

describe('A number among the settings', () => {
  it.each(numbers)(
    '%s is what %s says, from its least to its most',
    (setting, variable, bounds) => {
      const { minimum, maximum, otherwise } = bounds;

      expect(configFrom({ [variable]: String(minimum) })[setting]).toBe(minimum);
      expect(configFrom({ [variable]: String(maximum) })[setting]).toBe(maximum);
      expect(configFrom({})[setting]).toBe(otherwise);
      expect(configFrom({ [variable]: '' })[setting]).toBe(otherwise);
    },
  );

  it.each(numbers)(
    '%s is refused by the name of %s when it is no such number',
    (setting, variable, bounds) => {
      const { minimum, maximum } = bounds;
      const bad = [
        minimum - 1,
        maximum + 1,
        '1e1',
        '0x5',
        ' 5',
        '5 ',
        '5.0',
        '+5',
        '-5',
        'five',
        'NaN',
      ];

      for (const value of [...bad, '9'.repeat(400), '٥']) {
        const error = faultOf(setting, { [variable]: String(value) });
        expect(error).toBeInstanceOf(ConfigError);
        expect(error.message).toBe(
          `Environment variable ${variable} must be a whole number from ${minimum} to ${maximum}`,
        );
      }
    },
  );
});

describe('A choice among the settings', () => {
  it.each(choices)('%s is what %s says, and by default the first', (setting, variable, allowed) => {
    for (const value of allowed) expect(configFrom({ [variable]: value })[setting]).toBe(value);
    expect(configFrom({})[setting]).toBe(allowed[0]);
    expect(configFrom({ [variable]: '' })[setting]).toBe(allowed[0]);
  });

  it.each(choices)(
    '%s is refused by the name of %s when it is none of them',
    (setting, variable, allowed) => {
      for (const value of ['hunter2', 'constructor', allowed.join(), ` ${allowed[0]}`]) {
        const error = faultOf(setting, { [variable]: value });
        expect(error).toBeInstanceOf(ConfigError);
        expect(error.message).toBe(
          `Environment variable ${variable} must be one of ${allowed.join(', ')}`,
        );
      }
    },
  );
});

describe('A table name', () => {
  it.each(tableNames)('%s is what %s says', (setting, variable) => {
    expect(configFrom({ [variable]: 'some-table' })[setting]).toBe('some-table');
  });

  it.each(tableNames)('%s is missed by the name of %s', (setting, variable) => {
    for (const env of [{}, { [variable]: '' }]) {
      const error = faultOf(setting, env);
      expect(error).toBeInstanceOf(ConfigError);
      expect(error.message).toBe(`Environment variable ${variable} is not set`);
    }
  });
});

describe('configFrom', () => {
  it('covers every setting in these tests', () => {
    const tested = [...numbers, ...choices, ...tableNames].map(([setting]) => setting);

    expect(Object.keys(configFrom({})).sort()).toEqual(tested.sort());
  });

  it('never repeats a refused value, which may be a secret in the wrong place', () => {
    for (const [setting, variable] of [...numbers, ...choices]) {
      const { message, stack } = faultOf(setting, { [variable]: 'hunter2' });
      expect(`${message} ${stack}`).not.toContain('hunter2');
    }
  });

  it('needs a setting only when it is read', () => {
    const config = configFrom({ USERS_TABLE: 'users', BCRYPT_COST: 'nonsense' });

    expect(config.usersTable).toBe('users');
    expect(() => config.bcryptCost).toThrow(ConfigError);
    expect(() => config.auditTable).toThrow(ConfigError);
  });

  it('reads a setting whenever it is used', () => {
    const env = { BCRYPT_COST: '5' };
    const config = configFrom(env);

    const first = config.bcryptCost;
    env.BCRYPT_COST = '6';

    expect([first, config.bcryptCost]).toEqual([5, 6]);
  });
});
