/** The steps by which admins help a user, and the orders of steps that are safe. */
import type { UserDetails } from '../../../client/paths.ts';
import { api, ConsoleError, send, sendUnless, settings } from '../api.ts';
import { mailReset } from './access.tsx';
import { changeUser, setSuspended } from './profile.tsx';

export interface Step {
  readonly title: string;
  /** What it will do, as a sentence. */
  readonly text: string;
  /** Whether the options are on that it needs. */
  readonly isOn: (user: UserDetails) => boolean;
  /**
   * Does the step. It can be repeated.
   * @param email the address that the admin has typed @returns what was done, as a sentence
   */
  readonly act: (user: UserDetails, email: string) => Promise<string>;
}

export interface Plan {
  readonly title: string;
  /** For whom it is, as a sentence. */
  readonly text: string;
  readonly steps: readonly Step[];
  /** What remains to be done by hand, as sentences. */
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

/** Whether a user is suspended once the first steps of a plan are done. */
export const isHeldAfter = (done: readonly Step[], user: UserDetails): boolean =>
  !done.includes(lift) && (done.includes(suspend) || user.suspended_at !== undefined);

export const suspend: Step = {
  title: 'Suspend the user',
  text: 'All sessions end, earlier links become void, and nobody can sign in.',
  isOn: () => settings.sessions,
  act: async (user) => {
    await setSuspended(user, true);
    return 'The user is suspended, and signed out everywhere.';
  },
};

export const lift: Step = {
  title: 'Lift the suspension',
  text: 'Links are mailed again; nobody knows a password yet.',
  isOn: () => settings.sessions,
  act: async (user) => {
    await setSuspended(user, false);
    return 'The user is no longer suspended.';
  },
};

export const confirmAddress: Step = {
  title: 'Confirm or replace the address',
  text: 'The account has the address below from then on.',
  isOn: () => true,
  act: async ({ id, email: present }, email) => {
    if (email === present) return `It stays ${email}.`;
    await changeUser(id, { email });
    return `It is ${email}.`;
  },
};

export const replaceAddress: Step = {
  title: 'Give another address',
  text: 'The user signs in with it from then on.',
  isOn: () => true,
  act: async (user, email) => {
    const faults = { email: 'This is the present address.' };
    if (email === user.email) throw new ConsoleError('Type another address.', 0, { faults });
    return confirmAddress.act(user, email);
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
  act: async ({ id }) => {
    await changeUser(id, { password: randomPassword() });
    return `Nobody knows it.${waysRemoved}`;
  },
};

const factor: Step = {
  title: 'Remove the second factor',
  text: 'The password alone signs the user in.',
  isOn: () => settings.secondFactor !== 'off',
  act: async ({ id }) => {
    const params = { path: { id } };
    const user = await send(api.GET('/api/users/{id}', { params }));
    if (!user.second_factor?.enabled && !user.passkeys?.length) return 'There was none.';
    const removal = api.DELETE('/api/users/{id}/second-factor', { params });
    await sendUnless('SECOND_FACTOR_NOT_FOUND', removal);
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
  act: async ({ id }) => {
    await send(api.DELETE('/api/users/{id}/sessions', { params: { path: { id } } }));
    return 'They are ended.';
  },
};

const reset: Step = {
  title: 'Mail a reset link',
  text: 'By the link, the user sets a password.',
  isOn: () => settings.passwordReset,
  act: async (_, email) => {
    await mailReset(email);
    return `A link goes to ${email}.`;
  },
};

const lostPhone: Plan = {
  title: 'Lost phone',
  text: 'For a user who has lost the codes or passkeys of a device.',
  steps: [factors, sessions],
  left: (user) => [factors.isOn(user) && 'Another device can be set up after the next login.'],
};

const lostMailbox: Plan = {
  title: 'Lost mailbox',
  text: 'For a user who can no longer read mails at the address.',
  // Nothing is mailed to a user who is suspended.
  steps: [
    replaceAddress,
    sessions,
    { ...reset, isOn: (user) => reset.isOn(user) && !user.suspended_at },
  ],
  left: ({ suspended_at: isSuspended }) => [
    settings.passwordReset
      ? isSuspended !== undefined && 'Mail a reset link once you have lifted the suspension.'
      : 'If the password is forgotten too, set one, and hand it over.',
  ],
};

const intruder: Plan = {
  title: 'Somebody else is in',
  text: 'For an account that a stranger has got into.',
  steps: [suspend, confirmAddress, password, factor, lift, reset],
  left: () => [
    !settings.passwordReset && 'Nobody knows the password: set one, and hand it over.',
    !settings.sessions && 'Tokens that were given before stay valid until they expire.',
    'Look at what happened: a stranger may have changed more.',
  ],
};
