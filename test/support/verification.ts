import { type ApiClient, uniqueEmail } from './client.ts';
import { type MailingService, mailSettings, tokenIn, verifyUrl } from './mailbox.ts';

const settings = {
  ...mailSettings,
  VERIFY_URL: verifyUrl,
  // Tests cause more mails than one source address may cause.
  LOGIN_FAILURES_PER_ADDRESS: '0',
};

/** The settings with which addresses are verified, and must be verified. */
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

/** Registers a user who may get no token in the response. */
export const sendRegistration = (api: ApiClient, account: NewAccount) =>
  api('POST', '/api/auth/register', { json: { ...account } });

/** Uses the link of a mail. */
export const verify = (api: ApiClient, token: string, password: string) =>
  api('PUT', '/api/email-verifications', { json: { token, password } });

/** The token in the last of a number of mails to an address. */
export const mailedToken = async (
  { mailbox }: Pick<MailingService, 'mailbox'>,
  email: string,
  count = 1,
): Promise<string> => {
  const mail = (await mailbox.mailsTo(email, count)).at(-1);
  if (!mail) throw new Error(`${email} has no mail`);
  return tokenIn(mail);
};
