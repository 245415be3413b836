import { type ApiClient, uniqueEmail } from './client.ts';
import { type MailingService, mailSettings, tokenIn, verifyUrl } from './mailbox.ts';

const settings = {
  ...mailSettings,
  VERIFY_URL: verifyUrl,
  // Tests cause more mails than one source address may.
  LOGIN_FAILURES_PER_ADDRESS: '0',
};

/** The settings with which addresses are verified, and must be. */
export const verificationSettings = {
  on: { ...settings, EMAIL_VERIFICATION: 'on' },
  required: { ...settings, EMAIL_VERIFICATION: 'required' },
} as const;

export interface NewAccount {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

export const newAccount = (fields: Partial<NewAccount> = {}): NewAccount => ({
  name: 'Ada',
  email: uniqueEmail(),
  password: 'a long password',
  ...fields,
});

/** Registers somebody who may get no token by it. */
export const sendRegistration = (api: ApiClient, account: NewAccount) =>
  api('POST', '/api/auth/register', { json: { ...account } });

/** Uses the link of a mail. */
export const verify = (api: ApiClient, token: string, password: string) =>
  api('PUT', '/api/email-verifications', { json: { token, password } });

/** The token of the newest of a number of mails to an address. */
export const mailedToken = async (
  { mailbox }: Pick<MailingService, 'mailbox'>,
  email: string,
  count = 1,
): Promise<string> => {
  const mail = (await mailbox.mailsTo(email, count)).at(-1);
  if (!mail) throw new Error(`${email} has no mail`);
  return tokenIn(mail);
};
