/**
 * The parts of the code that belong to one option alone (lib/options/README.md). reviewed-options.txt lists all
 * other files that depend on it: those that import it, and those that name its fields.
 */
export interface Option {
  /** Whether it has no room: it is a column of lib/accounts/policy.ts, and a field. */
  readonly isInPolicy?: true;
  /** The folders and files of functions that are its own. */
  readonly handlers: readonly string[];
  /** The names of its stored fields. */
  readonly fields?: RegExp;
}

export const options: Readonly<Record<string, Option>> = {
  protection: {
    handlers: [],
  },
  sessions: {
    handlers: ['sessions/', 'auth/logout.ts', 'auth/refresh.ts'],
    fields: /\b(?:session_epoch|kept_session)\b/,
  },
  mails: {
    handlers: ['background/send-mail.ts'],
  },
  links: {
    handlers: ['password-resets/', 'console/link-page.ts', 'console/link-texts.ts'],
  },
  invitations: {
    handlers: ['invitations/'],
    fields: /\binvited_until\b/,
  },
  'verified-addresses': {
    handlers: ['email-verifications/'],
    fields: /\b(?:email_verified|pending_(?:email|until|id))\b/,
  },
  'second-factor': {
    handlers: ['second-factor/', 'users/remove-second-factor.ts'],
    fields: /\b(?:factor_secret|factor_step|recovery_codes|enrolment)\b/,
  },
  identities: {
    handlers: ['identities/'],
    fields: /\bidentities\b(?!['./])/,
  },
  passkeys: {
    handlers: ['passkeys/'],
    fields: /\b(?:passkeys|passkey_handle)\b(?!['./])/,
  },
  suspension: {
    handlers: ['suspension/'],
    fields: /\b(?:suspended_at|suspensions|isSuspended)\b/,
  },
  auditors: {
    isInPolicy: true,
    handlers: [],
    fields: /(?<!\ban )\bauditor\b/,
  },
  events: {
    handlers: ['background/publish-audit.ts'],
  },
};
