import { describe, expect, it } from 'vitest';
import { doubtsAbout } from '../../../infra/local/unknown-settings.ts';
import { serviceNames, variableOf } from '../../../lib/ground/settings.ts';

describe('An environment variable that is no setting', () => {
  it.each([
    ['SESSIONS_DAYS', 'SESSION_DAYS'],
    ['session_days', 'SESSION_DAYS'],
    ['sessionIdleDays', 'SESSION_IDLE_DAYS'],
    ['PASSWORD_MINIMUM_LENGTH', 'PASSWORD_MIN_LENGTH'],
    ['VERIFICATION_URL', 'VERIFY_URL'],
    ['RESET_PASSWORD_URL', 'RESET_URL'],
    ['DATA_DIRECTORY', 'DATA_DIR'],
    ['LOGIN_FAILURES_PER_IP', 'LOGIN_FAILURES_PER_ACCOUNT'],
    ['SESSION_DAY', 'SESSION_DAYS'],
    ['ADMIN_PASS', 'ADMIN_PASSWORD'],
  ])('is named where it resembles a setting: %s, %s', (name, setting) => {
    expect(doubtsAbout({ [name]: 'a secret' })).toEqual([
      `${name} is not a setting of this service: is ${setting} meant?`,
    ]);
  });

  it.each([
    ...[
      'EMAIL',
      'MAIL',
      'MAIL_HOST',
      'MAILCHECK',
      'EMAIL_HOST_PASSWORD',
      'SMTP_FROM',
      'PORT_RANGE',
    ],
    ...['SESSION', 'SESSION_MANAGER', 'SESSION_SECRET', 'DESKTOP_SESSION', 'XDG_SESSION_ID'],
    ...[
      'XDG_DATA_DIRS',
      'XDG_DATA_HOME',
      'DATABASE_URL',
      'DATA_PATH',
      'USER',
      'USERNAME',
      'USER_ID',
    ],
    ...['PASSWORD', 'PASSWORD_STORE_DIR', 'PGPASSWORD', 'LOGNAME', 'LOGIN_SHELL', 'LOG_LEVEL'],
    ...[
      'AWS_ENDPOINT_URL',
      'AWS_ENDPOINT_URL_S3',
      'AWS_PROFILE',
      'JWT_ISSUER',
      'ADMIN',
      'DOCS_DIR',
    ],
    ...['CONSOLE_LOG_LEVEL', 'AUDIT_USER', 'npm_config_user_agent', 'npm_lifecycle_event', ''],
  ])('is left alone where it may be another program’s: %s', (name) => {
    expect(doubtsAbout({ [name]: 'x' })).toEqual([]);
  });

  it('is none of those that the service reads, nor one without a value', () => {
    const variables = serviceNames.map((name) => [variableOf(name), 'x']);
    const own = { USERS_TABLE: 't', MAIL_FUNCTION_URL: 'u' };

    expect(doubtsAbout({ ...Object.fromEntries(variables), ...own, SESSION_DAY: '' })).toEqual([]);
  });
});
