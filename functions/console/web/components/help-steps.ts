/** The steps by which admins help a user, and the orders of steps that are safe. */
import type { UserDetails } from '../../../client/paths.ts';
import { ConsoleError, settings } from '../api.ts';
import { mailReset, removeFactor } from './access.tsx';
import { changeUser, setSuspended } from './profile.tsx';
import { endSessions } from './sessions.tsx';

/** The state in which a step is done. */
interface Run {
  /** The user as just read: others may have changed the user between the steps. */
  readonly user: UserDetails;
  /** The user before the first step. */
  readonly before: UserDetails;
  /** The address that the admin has typed. */
  readonly email: string;
}

export interface Step {
  readonly title: string;
  /** A sentence that says what the step will do. */
  readonly text: string;
  /** Whether the options are on that it needs. */
  readonly isOn: (user: UserDetails) => boolean;
  /** Does the step. It can be repeated. @returns what was done, as a sentence */
  readonly act: (run: Run) => Promise<string>;
}

export interface Plan {
  readonly title: string;
  /** For whom it is, as a sentence. */
  readonly text: string;
  readonly steps: readonly Step[];
  /** Sentences that say what the admin still has to do. */
  readonly left: (user: UserDetails) => readonly (string | false)[];
}

/** The steps of a plan whose options are on. */
export const stepsOf = ({ steps }: Plan, user: UserDetails): readonly Step[] =>
  steps.filter(({ isOn }) => isOn(user));

/** The plans that have steps for a user. Nobody can be in an account that has had no password yet. */
export const plansFor = (user: UserDetails): readonly Plan[] =>
  (user.invited_until ? [lostMailbox] : [lostPhone, lostMailbox, intruder]).filter(
    (plan) => stepsOf(plan, user).length > 0,
  );

/** Whether the first steps of a plan have suspended the user, and not lifted the suspension. */
export const isHeldAfter = (done: readonly Step[]): boolean =>
  done.includes(suspend) && !done.includes(lift);

/**
 * Whether a plan must begin again after a failure, because others may have undone what its steps had done.
 * @param next the step that failed
 */
export const mustRepeat = (done: readonly Step[], next: Step | undefined, user: UserDetails) =>
  isHeldAfter(done) && (next === lift || user.suspended_at === undefined);

export const suspend: Step = {
  title: 'Suspend the user',
  text: 'All sessions end, earlier links become void, and nobody can sign in.',
  isOn: () => settings.sessions,
  act: async ({ user }) => {
    await setSuspended(user, true);
    return 'The user is suspended, and signed out everywhere.';
  },
};

export const lift: Step = {
  title: 'Lift the suspension',
  text: 'Links can be mailed to the user again. Nobody can sign in until a new password is set.',
  // A user who was suspended before may be so for another reason.
  isOn: (user) => settings.sessions && !user.suspended_at,
  act: async ({ user, email }) => {
    if (!user.suspended_at) throw new ConsoleError('Somebody has lifted the suspension.');
    requireAddress(user, email);
    if (user.pending_email) {
      throw new ConsoleError(`Another address, ${user.pending_email}, waits for its link.`);
    }
    await setSuspended(user, false);
    return 'The user is no longer suspended.';
  },
};

/** Requires that nobody has changed the address since it was confirmed. */
const requireAddress = (user: UserDetails, email: string): void => {
  if (user.email === email) return;
  throw new ConsoleError(`Somebody has changed the address to ${user.email}.`);
};

export const confirmAddress: Step = {
  title: 'Confirm or replace the address',
  text: 'The account has the address below from then on.',
  isOn: () => true,
  act: async ({ user, email }) => {
    if (email === user.email) return `It stays ${email}.`;
    await changeUser(user.id, { email });
    return `It is ${email}.`;
  },
};

export const replaceAddress: Step = {
  title: 'Give another address',
  text: 'The user signs in with it from then on.',
  isOn: () => true,
  act: async (run) => {
    const faults = { email: 'This is the present address.' };
    // Not as just read: an attempt whose response was lost may have changed it.
    if (run.email === run.before.email)
      throw new ConsoleError('Type another address.', 0, { faults });
    return confirmAddress.act(run);
  },
};

const ways = [settings.passkeys && 'passkeys', settings.identities && 'identities'].filter(Boolean);
const waysRemoved = ways.length > 0 ? ` All ${ways.join(' and ')} are removed.` : '';

/** Of the greatest length, 255 characters. */
const randomPassword = (): string =>
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(192)))).slice(0, 255);

const password: Step = {
  title: 'Set a random password',
  text: `Nobody sees it.${waysRemoved}`,
  isOn: () => true,
  act: async ({ user }) => {
    await changeUser(user.id, { password: randomPassword() });
    return `Nobody knows it.${waysRemoved}`;
  },
};

const factor: Step = {
  title: 'Remove the second factor',
  text: 'The password alone signs the user in.',
  isOn: () => settings.secondFactor !== 'off',
  act: async ({ user }) => {
    if (!user.second_factor?.enabled && !user.passkeys?.length) return 'There was none.';
    await removeFactor(user.id);
    return 'It is removed.';
  },
};

const factors: Step = {
  ...factor,
  text: `${factor.text}${settings.passkeys ? ' All passkeys are removed too.' : ''}`,
  isOn: () => settings.secondFactor !== 'off' || settings.passkeys !== undefined,
};

const sessions: Step = {
  title: 'End all sessions',
  text: 'The user is signed out everywhere.',
  isOn: () => settings.sessions,
  act: async ({ user: { id } }) => {
    await endSessions(id);
    return 'They are ended.';
  },
};

const reset: Step = {
  title: 'Mail a reset link',
  text: 'By the link, the user sets a password.',
  // Nothing is mailed to a user who is suspended.
  isOn: (user) => settings.passwordReset && !user.suspended_at,
  act: async ({ user, email }) => {
    requireAddress(user, email);
    await mailReset(email);
    return `A link was mailed to ${email}.`;
  },
};

const resetLeft = ({ suspended_at: isSuspended }: UserDetails) =>
  isSuspended !== undefined && 'Mail a reset link once you have lifted the suspension.';

const lostPhone: Plan = {
  title: 'Lost phone',
  text: 'For a user who has lost the codes or passkeys of a device.',
  steps: [factors, sessions],
  left: (user) => [factors.isOn(user) && 'Another device can be set up after the next login.'],
};

const lostMailbox: Plan = {
  title: 'Lost mailbox',
  text: 'For a user who can no longer read mails at the address.',
  steps: [replaceAddress, sessions, reset],
  left: (user) => [
    settings.passwordReset
      ? resetLeft(user)
      : 'If the password is forgotten too, set one, and hand it over.',
  ],
};

const intruder: Plan = {
  title: 'Somebody else is in',
  text: 'For an account that a stranger has got into.',
  steps: [suspend, confirmAddress, password, factor, lift, reset],
  left: (user) => [
    user.suspended_at !== undefined && 'The user was suspended before, and stays suspended.',
    settings.passwordReset
      ? resetLeft(user)
      : 'Nobody knows the password: set one, and hand it over.',
    !settings.sessions && 'Tokens that were given before stay valid until they expire.',
    'Look at what happened: a stranger may have changed more.',
  ],
};
