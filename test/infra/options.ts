import type { Name } from '../../infra/deployment-settings.ts';

/**
 * The parts of the code that belong to one option alone, which lib/options/README.md lists. reviewed-options.txt
 * lists all other files that depend on it: those that import it, and those that name its fields.
 */
export interface Option {
  readonly title: string;
  readonly settings: readonly Name[];
  /** Whether it has no room: it is a column of lib/accounts/policy.ts, and a field. */
  readonly isInPolicy?: true;
  /** The folders and files of functions that are its own. */
  readonly handlers: readonly string[];
  /** The names of its stored fields. */
  readonly fields?: RegExp;
}

export const options: Readonly<Record<string, Option>> = {
  protection: {
    title: 'Login protection',
    settings: ['loginFailuresPerAccount', 'loginFailuresPerAddress', 'registrationsPerAddress'],
    handlers: [],
  },
  sessions: {
    title: 'Sessions',
    settings: ['sessionDays', 'sessionIdleDays', 'tokenMinutes'],
    handlers: ['sessions/', 'auth/logout.ts', 'auth/refresh.ts'],
    fields: /\b(?:session_epoch|kept_session)\b/,
  },
  mails: {
    title: 'Mails',
    settings: ['mailFrom', 'mailLanguage', 'productName'],
    handlers: ['background/send-mail.ts'],
  },
  links: {
    title: 'Mailed links, their pages, password resets',
    settings: ['mailFrom', 'resetUrl', 'verifyUrl', 'returnUrl'],
    handlers: ['password-resets/', 'console/link-page.ts', 'console/link-texts.ts'],
  },
  invitations: {
    title: 'Invitations',
    settings: ['mailFrom'],
    handlers: ['invitations/'],
    fields: /\binvited_until\b/,
  },
  'verified-addresses': {
    title: 'Verified addresses',
    settings: ['emailVerification'],
    handlers: ['email-verifications/'],
    fields: /\b(?:email_verified|pending_(?:email|until|id))\b/,
  },
  'second-factor': {
    title: 'Second factor',
    settings: ['secondFactor'],
    handlers: ['second-factor/', 'users/remove-second-factor.ts'],
    fields: /\b(?:factor_secret|factor_step|recovery_codes|enrolment)\b/,
  },
  identities: {
    title: 'Identities',
    settings: ['identityProviders'],
    handlers: ['identities/'],
    fields: /\bidentities\b(?!['./])/,
  },
  attributes: {
    title: 'Attributes',
    settings: ['userAttributes'],
    handlers: [],
    fields: /\battributes\b(?!['./])/,
  },
  passkeys: {
    title: 'Passkeys',
    settings: ['passkeys'],
    handlers: ['passkeys/'],
    fields: /\b(?:passkeys|passkey_handle)\b(?!['./])/,
  },
  machines: {
    title: 'Machines',
    settings: ['machines'],
    handlers: ['machines/'],
    fields: /\b(?:machine_id|vouchingMachine)\b/,
  },
  suspension: {
    title: 'Suspension',
    settings: ['sessionDays'],
    handlers: ['suspension/'],
    fields: /\b(?:suspended_at|suspensions|isSuspended)\b/,
  },
  auditors: {
    title: 'Auditors',
    settings: ['sessionDays'],
    isInPolicy: true,
    handlers: [],
    fields: /(?<!\ban )\bauditor\b/,
  },
  events: {
    title: 'Events',
    settings: ['events'],
    handlers: ['background/publish-audit.ts'],
  },
};
