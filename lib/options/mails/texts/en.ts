/** The texts of mails in English, and the types of the texts of all languages. */

export interface Facts {
  readonly email: string;
  /** The name of the product, or the host of its page. */
  readonly site: string;
  /** Date and time in UTC, such as `2026-11-21` and `09:05`. */
  readonly date: string;
  readonly time: string;
  readonly ip_address: string;
}

export type Part = 'email' | 'password' | 'secondFactor' | 'identities' | 'passkeys';

/** A mail: its subject, and its paragraphs. The link is a separate paragraph. */
export interface Text {
  readonly subject: string;
  readonly paragraphs: readonly string[];
}

export interface Texts {
  /** The link by which a new password is chosen. */
  reset(facts: Facts, link: string): Text;
  /** The same link, if an admin requested it. */
  resetByAdmin(facts: Facts, link: string): Text;
  /** The same link, if somebody tried to register another account with the address. */
  taken(facts: Facts, link: string): Text;
  /** The link by which a first password is chosen. */
  invitation(facts: Facts, link: string): Text;
  /** The link that verifies an address. */
  verification(facts: Facts, link: string): Text;
  changed(facts: Facts, parts: readonly Part[], byAdmin: boolean): Text;
  deleted(facts: Facts, byAdmin: boolean): Text;
}

/** The parts that an admin can remove but not set. */
export const removable: readonly Part[] = ['secondFactor', 'identities', 'passkeys'];

const choosePassword = 'Choose a new password';
const once = 'It works once, and only the newest link does.';
const nobody = 'Nobody who works for the site will ask for it.';
const noReset = `If it was not you, there is nothing to do: your password stays as it is, and whoever asked has not seen this mail. Give the link to nobody. ${nobody}`;

const names: Readonly<Record<Part, string>> = {
  email: 'email address',
  password: 'password',
  secondFactor: 'second factor',
  identities: 'sign-in by another provider',
  passkeys: 'sign-in by passkey',
};

export const en: Texts = {
  reset: (facts, link) => ({
    subject: choosePassword,
    paragraphs: [
      `Somebody asked for a new password for the account ${facts.email} at ${facts.site}, ${origin(facts)}.`,
      `If it was you, open this link within 30 minutes and choose a new password. ${once}`,
      link,
      noReset,
    ],
  }),

  resetByAdmin: (facts, link) => ({
    subject: choosePassword,
    paragraphs: [
      `An admin of ${facts.site} asked for a new password for your account ${facts.email} ${at(facts)}.`,
      `Open this link within 30 minutes and choose it. ${once} Until then your password stays as it is.`,
      link,
      `Give the link to nobody. ${nobody}`,
    ],
  }),

  // Users who register again before their address is confirmed also get this mail.
  taken: (facts, link) => ({
    subject: choosePassword,
    paragraphs: [
      `Somebody asked for an account with the address ${facts.email} at ${facts.site} ${origin(facts)}. This address has an account already.`,
      `If it was you, log in as usual, or open this link within 30 minutes and choose a new password. That also finishes a registration whose address is not confirmed yet. ${once}`,
      link,
      noReset,
    ],
  }),

  invitation: (facts, link) => ({
    subject: `Your account at ${facts.site}`,
    paragraphs: [
      `Those who run ${facts.site} have made an account there for ${facts.email}.`,
      `To use it, open this link within seven days and choose a password. ${once}`,
      link,
      `If you do not want the account, there is nothing to do: nobody can use it without this link. Give it to nobody. ${nobody}`,
    ],
  }),

  verification: (facts, link) => ({
    subject: 'Confirm your email address',
    paragraphs: [
      `Somebody gave ${facts.email} as the address of an account at ${facts.site}, ${origin(facts)}.`,
      `If it was you, open this link within 30 minutes and enter the password of the account. ${once}`,
      link,
      `If it was not you, there is nothing to do: without this link nobody can show that the address is theirs. Give it to nobody. ${nobody}`,
    ],
  }),

  changed: (facts, parts, byAdmin) => {
    const things = parts.map((part) => names[part]).join(' and the ');
    const verb = parts.length > 1 ? 'were' : 'was';
    if (byAdmin) {
      const done = parts.every((part) => removable.includes(part)) ? 'removed' : 'changed';
      return {
        subject: `Your ${things} ${verb} ${done} by an admin`,
        paragraphs: byAnAdmin(`${done} the ${things} of your account ${facts.email}`, facts),
      };
    }
    const advice = parts.includes('email')
      ? `If it was not you, write to those who run ${facts.site} at once: this address may not lead to the account any more.`
      : `If it was not you, ask for a new password at ${facts.site} at once.`;
    return {
      subject: `Your ${things} ${verb} changed`,
      paragraphs: [
        `The ${things} of the account ${facts.email} at ${facts.site} ${verb} changed ${origin(facts)}.`,
        'If it was you, there is nothing to do.',
        advice,
      ],
    };
  },

  deleted: (facts, byAdmin) => ({
    subject: 'Your account was deleted',
    paragraphs: byAdmin
      ? byAnAdmin(`deleted your account ${facts.email}`, facts)
      : [
          `The account ${facts.email} at ${facts.site} was deleted ${origin(facts)}.`,
          'If you asked for it, there is nothing to do.',
          `If you did not, write to those who run ${facts.site} at once.`,
        ],
  }),
};

function origin(facts: Facts): string {
  return `${at(facts)}, from the IP address ${facts.ip_address}`;
}

function at({ date, time }: Facts): string {
  return `on ${date} at ${time} UTC`;
}

/** The paragraphs of the notice which says that an admin has changed or deleted the account. */
function byAnAdmin(done: string, facts: Facts): readonly string[] {
  return [
    `An admin of ${facts.site} ${done} ${at(facts)}.`,
    'If you asked for it, or know why, there is nothing to do.',
    `If not, write to those who run ${facts.site}.`,
  ];
}
