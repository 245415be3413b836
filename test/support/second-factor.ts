import { Secret, TOTP } from 'otpauth';
import { type Account, type ApiAnswer, type ApiClient, logIn, register } from './client.ts';

/** The code that an app shows for a secret. @param ahead how many steps of 30 s after the present step */
export const codeOf = (secret: string, { ahead = 0 } = {}): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: Date.now() + ahead * 30_000,
  });

/** An account with a second factor, and a session that began after the factor was added. */
export interface AccountWithFactor extends Account {
  readonly secret: string;
  /** All ten recovery codes but the first, which the login has used. */
  readonly recoveryCodes: readonly string[];
}

/** Gives an account a second factor. The next code that an app shows is valid for one login. */
export const enrol = async (
  api: ApiClient,
  { password, token }: Pick<Account, 'password' | 'token'>,
): Promise<{ secret: string; recoveryCodes: readonly string[] }> => {
  const json = { currentPassword: password };
  const { secret } = (await api('POST', '/api/second-factor', { token, json })).body;
  const code = codeOf(secret);
  const { recoveryCodes } = (await api('PUT', '/api/second-factor', { token, json: { code } }))
    .body;
  return { secret, recoveryCodes };
};

/** Registers a user who has a second factor, and logs the user in by a recovery code. */
export const registerWithFactor = async (
  api: ApiClient,
  fields: { password?: string } = {},
): Promise<AccountWithFactor> => {
  const user = await register(api, fields);
  const { secret, recoveryCodes } = await enrol(api, user);
  const [code, ...others] = recoveryCodes;
  const token = await logIn(api, { ...user, code });
  return { ...user, token, secret, recoveryCodes: others };
};

/** Settings with which users can have a second factor. */
export const factorSettings = {
  SESSION_DAYS: '90',
  SECOND_FACTOR: 'optional',
  SELF_DELETION: 'on',
  LOGIN_FAILURES_PER_ADDRESS: '0',
} as const;

/** The requests that these tests send to a service. */
export const factorClient = (api: ApiClient) => ({
  tryLogin: (
    { email, password }: Pick<Account, 'email' | 'password'>,
    fields: object = {},
    headers = {},
  ): Promise<ApiAnswer> =>
    api('POST', '/api/login', { json: { email, password, ...fields }, headers }),
  post: (path: string, token: string, json: object, headers = {}): Promise<ApiAnswer> =>
    api('POST', `/api/second-factor${path}`, { token, json, headers }),
  confirm: (token: string, code: unknown, headers = {}): Promise<ApiAnswer> =>
    api('PUT', '/api/second-factor', { token, json: { code }, headers }),
  standing: async (token: string) => (await api('GET', '/api/second-factor', { token })).body,
});
