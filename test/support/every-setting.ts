import { variableOf } from '../../lib/ground/setting.ts';
import { serviceNames } from '../../lib/ground/settings.ts';
import { mailSettings, verifyUrl } from './mailbox.ts';

/** Each setting that adds endpoints, fields or errors, with a value that adds them. */
export const everySetting = {
  SESSION_DAYS: '90',
  // A machine may stall for minutes while a token is used.
  TOKEN_MINUTES: '720',
  TOKEN_SIGNING: 'RS256',
  SELF_DELETION: 'on',
  SECOND_FACTOR: 'optional',
  ...mailSettings,
  EMAIL_VERIFICATION: 'on',
  VERIFY_URL: verifyUrl,
  IDENTITY_PROVIDERS: '[{"issuer":"https://accounts.google.com","audiences":["app"]}]',
  PASSKEYS: '{"rpId":"example.com","origins":["https://app.example.com"]}',
  USER_ATTRIBUTES:
    '[{"name":"locale","type":"choice","choices":["de","en"],"writer":"user"},{"name":"plan","type":"text","token":true}]',
  MACHINES: 'on',
  // Tests cause more mails than one source address may cause.
  LOGIN_FAILURES_PER_ADDRESS: '0',
} as const;

/** The same settings, by the names that they have in deployments. */
export const everyDeployedSetting: Readonly<Record<string, string>> = Object.fromEntries(
  serviceNames.flatMap((name) => {
    const value = (everySetting as Readonly<Record<string, string>>)[variableOf(name)];
    return value === undefined ? [] : [[name, value]];
  }),
);
