import { describe, expect, it } from 'vitest';
import { doubtAbout, doubtsAbout } from '../../../infra/local/unknown-settings.ts';
import { variableOf } from '../../../lib/ground/setting.ts';
import { serviceNames } from '../../../lib/ground/settings.ts';

describe('An environment variable that is not a setting', () => {
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
  ])('is reported if it resembles a setting: %s, %s', (name, setting) => {
    expect(doubtsAbout({ [name]: 'a secret' })).toEqual([
      `${name} is not a setting of this service: is ${setting} meant?`,
    ]);
  });

  const ofOthers = `
    EMAIL MAIL MAIL_HOST MAILCHECK EMAIL_HOST_PASSWORD SMTP_FROM PORT_RANGE SESSION
    SESSION_MANAGER SESSION_SECRET DESKTOP_SESSION XDG_SESSION_ID XDG_DATA_DIRS XDG_DATA_HOME
    DATABASE_URL DATA_PATH USER USERNAME USER_ID PASSWORD PASSWORD_STORE_DIR PGPASSWORD LOGNAME
    LOGIN_SHELL LOG_LEVEL AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 AWS_PROFILE JWT_ISSUER ADMIN
    DOCS_DIR CONSOLE_LOG_LEVEL AUDIT_USER npm_config_user_agent npm_lifecycle_event
  `;
  it.each(['', ...ofOthers.split(/\s+/).filter(Boolean)])(
    'is ignored if it may belong to another program: %s',
    (name) => {
      expect(doubtsAbout({ [name]: 'x' })).toEqual([]);
    },
  );

  it('is neither a variable that the service reads nor a variable without a value', () => {
    const variables = serviceNames.map((name) => [variableOf(name), 'x']);
    const own = { USERS_TABLE: 't', MAIL_FUNCTION_URL: 'u' };

    expect(doubtsAbout({ ...Object.fromEntries(variables), ...own, SESSION_DAY: '' })).toEqual([]);
  });
});

describe('An argument of npm start', () => {
  const settings =
    'its settings are environment variables, as in PORT=4000 npm start (infra/settings.md, On one machine).';
  it.each([
    [['--port', '4000'], 'in place of --port set PORT, as in PORT=… npm start.'],
    [['--data-dir=a-secret'], 'in place of --data-dir set DATA_DIR, as in DATA_DIR=… npm start.'],
    [['--jwtSecret', 'x'], 'in place of --jwtSecret set JWT_SECRET, as in JWT_SECRET=… npm start.'],
    [
      ['--session-day=3'],
      'in place of --session-day set SESSION_DAYS, as in SESSION_DAYS=… npm start.',
    ],
    [['-p', '4000'], settings],
    [['4000', '--port'], settings],
  ])('is refused with the name of the intended setting: %j', (args, advice) => {
    expect(doubtAbout(args)).toBe(`npm start takes no arguments: ${advice}`);
  });

  it('may be missing', () => {
    expect(doubtAbout([])).toBeUndefined();
  });
});
