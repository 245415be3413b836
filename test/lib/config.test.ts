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
    { minimum: 0, maximum: 1_000_000, otherwise: 1000 },
  ],
  [
    'registrationsPerAddress',
    'REGISTRATIONS_PER_ADDRESS',
    { minimum: 0, maximum: 1_000_000, otherwise: 0 },
  ],
  ['auditSealInterval', 'AUDIT_SEAL_INTERVAL', { minimum: 1, maximum: 86_400, otherwise: 300 }],
  ['storagePatience', 'STORAGE_PATIENCE', { minimum: 1, maximum: 10, otherwise: 1 }],
];

/** Settings of days, of which 0 means for ever. */
const durations: readonly [Setting, string, number][] = [
  ['auditRetentionDays', 'AUDIT_RETENTION_DAYS', 30],
  ['auditArchiveDays', 'AUDIT_ARCHIVE_DAYS', 1],
];

const choices: readonly [Setting, string, readonly string[]][] = [
  ['userDirectory', 'USER_DIRECTORY', ['open', 'closed']],
  ['loginAnswers', 'LOGIN_ANSWERS', ['distinct', 'uniform']],
  ['sessions', 'SESSIONS', ['stateless', 'revocable']],
  ['currentPassword', 'CURRENT_PASSWORD', ['optional', 'required']],
  ['auditDetail', 'AUDIT_DETAIL', ['standard', 'full']],
  ['v1Users', 'V1_USERS', ['on', 'off']],
  ['docs', 'DOCS', ['on', 'off']],
];

const namesGiven: readonly [Setting, string][] = [
  ['usersTable', 'USERS_TABLE'],
  ['staticFiles', 'STATIC_FILES'],
  ['auditTable', 'AUDIT_TABLE'],
];

const ofMails: readonly [Setting, string][] = [
  ['mailFrom', 'MAIL_FROM'],
  ['resetUrl', 'RESET_URL'],
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

describe('A number of days among the settings', () => {
  it.each(durations)('%s is what %s says, or 0 for ever', (setting, variable, least) => {
    for (const days of [0, least, 36_500]) {
      expect(configFrom({ [variable]: String(days) })[setting]).toBe(days);
    }
    expect(configFrom({})[setting]).toBe(0);
  });

  it.each(durations)('%s is refused by the name of %s otherwise', (setting, variable, least) => {
    for (const value of [least - 1 || '00', 36_501, '-0', '1e2', 'never']) {
      expect(faultOf(setting, { [variable]: String(value) }).message).toBe(
        `Environment variable ${variable} must be 0, or a whole number from ${least} to 36500`,
      );
    }
  });
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
  it.each(namesGiven)('%s is what %s says', (setting, variable) => {
    expect(configFrom({ [variable]: 'some-table' })[setting]).toBe('some-table');
  });

  it.each(namesGiven)('%s is missed by the name of %s', (setting, variable) => {
    for (const env of [{}, { [variable]: '' }]) {
      const error = faultOf(setting, env);
      expect(error).toBeInstanceOf(ConfigError);
      expect(error.message).toBe(`Environment variable ${variable} is not set`);
    }
  });
});

describe('A setting of mails', () => {
  const sound = { MAIL_FROM: 'accounts@example.com', RESET_URL: 'https://app.example.com/reset' };

  it('is none by default', () => {
    for (const [setting, variable] of ofMails) {
      expect(configFrom({})[setting]).toBe('');
      expect(configFrom({ [variable]: '' })[setting]).toBe('');
    }
  });

  it.each([
    ['accounts@example.com', 'https://app.example.com'],
    ['no-reply+x@mail.example.com', 'https://app.example.com:8443/a/b?c=d'],
    ['a@localhost', 'http://localhost:8080/reset'],
    ['a@localhost', 'http://127.0.0.1/'],
    ['a@localhost', 'http://[::1]:8080/'],
    ['a@b', 'https://b'],
  ])('is taken as it is: %s, %s', (from, url) => {
    const { mailFrom, resetUrl } = configFrom({ MAIL_FROM: from, RESET_URL: url });

    expect([mailFrom, resetUrl]).toEqual([from, url]);
  });

  it.each([
    ...['nobody', '@example.com', 'a@', 'a@b@c', 'Accounts <a@example.com>', 'a@b,c@d', 'a b@c'],
    ...['a@b\r\nBcc: c@d', 'a@example.com ', 'ä@example.com', '<a@example.com>'],
    ...['a@-example.com', 'a@example.com-', 'a@.example.com', 'a@example_com'],
  ])('is refused as MAIL_FROM: %j', (from) => {
    expect(faultOf('mailFrom', { ...sound, MAIL_FROM: from }).message).toBe(
      'Environment variable MAIL_FROM must be an email address',
    );
  });

  it.each([
    ...['app.example.com', '/reset', 'http://app.example.com/', 'ftp://localhost/', 'javascript:1'],
    ...['https://app.example.com/#', 'https://app.example.com/#a', 'https://u:p@example.com/'],
    ...['https://app.example.com/ x', 'https://app.exa\nmple.com/', ' https://app.example.com'],
    ...['http://localhost.example.com/', 'https://', 'data:text/html,x'],
    ...['https:x.org/r', 'https:\\\\x.org\\r', 'https:///x.org/r', 'https://x.org\\r'],
    ...['\u0001https://x.org/r', 'https://x.org/\u202er', 'https://x.org/\u007f', 'https://ä.org/'],
  ])('is refused as RESET_URL: %j', (url) => {
    expect(faultOf('resetUrl', { ...sound, RESET_URL: url }).message).toBe(
      'Environment variable RESET_URL must be an https URL without fragment, or an http one of localhost',
    );
  });

  it('is missed by name where the other one is set', () => {
    const message = (one: string, other: string) =>
      `Environment variable ${one} must be set together with ${other}`;

    expect(faultOf('mailFrom', { MAIL_FROM: sound.MAIL_FROM }).message).toBe(
      message('RESET_URL', 'MAIL_FROM'),
    );
    expect(faultOf('resetUrl', { RESET_URL: sound.RESET_URL }).message).toBe(
      message('MAIL_FROM', 'RESET_URL'),
    );
  });
});

describe('configFrom', () => {
  it('covers every setting in these tests', () => {
    const all = [...numbers, ...durations, ...choices, ...namesGiven, ...ofMails];
    const tested = all.map(([setting]) => setting);
    // Given by what runs the service, as it is.
    tested.push('mailFunctionUrl');

    expect(Object.keys(configFrom({})).sort()).toEqual(tested.sort());
  });

  it('never repeats a refused value, which may be a secret in the wrong place', () => {
    for (const [setting, variable] of [...numbers, ...durations, ...choices]) {
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
