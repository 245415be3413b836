/** The actions of admins on a user, each with its dialog. Auditors see only the states. */
import type { ComponentChildren } from 'preact';
import type { Invitation, UserChanges, UserDetails } from '../../../client/paths.ts';
import { api, ConsoleError, send, sendUnless, settings } from '../api.ts';
import { counted } from '../format.ts';
import { isInForce, withoutPasskeys } from '../passkeys.ts';
import { goBackTo } from '../router.ts';
import { accounts, isAdmin, leave } from '../session.ts';
import { Button } from './button.tsx';
import { openDialog } from './dialog.tsx';
import { Field, FormDialog, type FormDialogProps, MailLanguage } from './form.tsx';
import { tell } from './notice.tsx';
import { Person, PersonWithAddress, sentenceOf, tellOf } from './person.tsx';
import {
  changeUser,
  deleteUser,
  isOwn,
  NewPassword,
  setSuspended,
  suspension,
  type UserProps,
} from './profile.tsx';
import { ActionRow, Card } from './screen.tsx';

const atOnce = 'It holds at once, in open sessions too.';
const untilExpiry = 'A token that was given before keeps the role until it expires, within a day.';

/** The changes of a user's rights, each with the state that it ends. */
const standings = {
  admin: {
    state: 'An ordinary user.',
    button: 'Make an admin',
    body: { role: 'admin' },
    title: 'Make an admin',
    text: 'will be allowed to change and delete all users, to make others admins, and to read the whole audit trail.',
    done: 'is an admin.',
    note: settings.sessions ? atOnce : untilExpiry,
  },
  user: {
    state: 'May do all that the API offers.',
    button: 'Take the role away',
    body: { role: 'user' },
    title: 'Take the role away',
    text: 'will no longer be allowed to change other users, or as an admin to read the audit trail.',
    done: 'is no longer an admin.',
    note: settings.sessions ? 'All sessions of the user end now.' : untilExpiry,
  },
  auditor: {
    state: 'For a user who reads all users and the audit trail.',
    button: 'Make an auditor',
    body: { auditor: true },
    title: 'Make an auditor',
    text: 'will be allowed to see all of every user but sessions, and to read the whole audit trail.',
    done: 'is an auditor.',
    note: atOnce,
  },
  none: {
    state: 'Reads all users and the audit trail.',
    button: 'End it',
    body: { auditor: false },
    title: 'End the auditor’s rights',
    text: 'will no longer be allowed to read the audit trail as an auditor.',
    done: 'is no longer an auditor.',
    note: atOnce,
  },
} as const;

type Values = UserChanges & Invitation & { readonly typed?: string };

interface Deed extends Omit<FormDialogProps<Values>, 'failed'> {
  readonly name: string;
  readonly state: string;
  /** Absent: no action is possible. */
  readonly button?: string | undefined;
  readonly isOffered?: boolean;
  /** Whether auditors see it too, because it shows the user's present state. */
  readonly isState?: boolean;
  readonly isForGood?: boolean;
  readonly failed?: string;
  /** The message after the action, once the user is loaded again. Absent: the console leaves the user's screen. */
  readonly done?: ComponentChildren;
}

const changeOf = (user: UserDetails, to: keyof typeof standings) => {
  const { body, text, done, note, ...shown } = standings[to];
  const isLeaving = to === 'user' && isOwn(user);
  const act = async () => {
    await changeUser(user.id, body);
    if (!isLeaving) return;
    tellOf(user, done);
    void leave('You are no longer an admin.');
  };
  const children = (
    <>
      <p>
        <PersonWithAddress user={user} /> {text}
      </p>
      {isLeaving && (
        <p>
          <strong>This is you.</strong> Only another admin can give you the role back.
        </p>
      )}
      <p class="muted">{note}</p>
    </>
  );
  return { ...shown, act, done: !isLeaving && sentenceOf(user, done), isDangerous: true, children };
};

const roleOf = (user: UserDetails): Deed => ({
  ...changeOf(user, user.role === 'admin' ? 'user' : 'admin'),
  name: 'Role',
  isState: true,
  isOffered: !user.invited_until,
});

const auditorOf = (user: UserDetails): Deed => ({
  ...changeOf(user, user.auditor ? 'none' : 'auditor'),
  name: 'Auditor',
  isOffered: settings.sessions && !user.invited_until,
});

const passwordOf = (user: UserDetails): Deed => ({
  name: 'Password',
  state: 'You choose one, and hand it over.',
  button: 'Set a password',
  title: named('Set a password for', user),
  act: (body) => changeUser(user.id, body),
  failed: 'No password was set',
  done: sentenceOf(user, 'has a new password.'),
  submit: 'Set the password',
  children: <NewPassword user={user} />,
});

/** Mails a reset link with the admin's token, because admins have a limit of their own: the client sends no token. */
export const mailReset = async (email: string): Promise<unknown> => {
  const token = await accounts.getToken();
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  return send(api.POST('/api/password-resets', { body: { email }, headers }));
};

/** Mails the link with which a user sets a first password or a new password. */
const linkOf = ({ id, email, invited_until: isInvited, ...user }: UserDetails): Deed => ({
  ...(isInvited
    ? {
        name: 'Invitation',
        state: 'The user has no password yet.',
        button: 'Send again',
        title: 'Send the invitation again',
        act: (body) =>
          send(api.POST('/api/users/{id}/invitations', { params: { path: { id } }, body })),
      }
    : {
        name: 'Forgotten password',
        state: 'The user chooses one, by a link in a mail.',
        button: 'Mail a link',
        title: 'Mail a reset link',
        act: () => mailReset(email),
        // The service would give its usual response, but mail nothing.
        ...(user.suspended_at && {
          state: 'No link is mailed to a user who is suspended.',
          button: undefined,
        }),
      }),
  isOffered: settings.passwordReset,
  isState: isInvited !== undefined,
  failed: 'No link was mailed',
  submit: 'Mail the link',
  done: `A link was mailed to ${email}.`,
  children: (
    <>
      <p>
        {email} gets a mail with a link by which <Person user={{ id, ...user }} /> sets a{' '}
        {isInvited ? 'first' : 'new'} password.{' '}
        {isInvited
          ? 'It is valid for seven days; the one before no longer works.'
          : 'The present password stays valid until then.'}
      </p>
      {isInvited && <MailLanguage />}
    </>
  ),
});

/** Removes a user's second factor, and the passkeys. Nothing is left to do if there is none any more. */
export const removeFactor = async (id: number): Promise<void> => {
  const removal = api.DELETE('/api/users/{id}/second-factor', { params: { path: { id } } });
  await sendUnless('SECOND_FACTOR_NOT_FOUND', removal);
};

/** The second factor. Passkeys count as a second factor. */
const factorOf = (user: UserDetails): Deed => {
  const { id, second_factor: factor } = user;
  const passkeys = (user.passkeys ?? []).filter(isInForce);
  const states = [
    factor?.enabled && `Enabled, ${counted(factor.recovery_codes_left, 'recovery code')} left.`,
    passkeys.length > 0 && `${counted(passkeys.length, 'passkey')}.`,
  ].filter(Boolean);
  return {
    name: 'Second factor',
    state: states.join(' ') || 'There is none.',
    button: states.length > 0 ? 'Remove' : undefined,
    isOffered: (settings.secondFactor !== 'off' || settings.passkeys !== undefined) && !isOwn(user),
    isState: true,
    title: 'Remove the second factor',
    act: () => removeFactor(id),
    failed: 'The second factor was not removed',
    done: sentenceOf(user, 'signs in without a code.'),
    submit: 'Remove',
    isDangerous: true,
    children: (
      <>
        <p>
          Without it <Person user={user} /> signs in by the password alone: make sure that you know
          who asks. {settings.passkeys && 'All passkeys are removed too. '}All sessions of the user
          end.
        </p>
        <p class="muted">
          Only an admin who has a second factor
          {settings.passkeys && ', or has signed in by a passkey,'} can remove that of another user.
        </p>
      </>
    ),
  };
};

const suspensionOf = (user: UserDetails): Deed => {
  const isSuspended = user.suspended_at !== undefined;
  return {
    name: 'Suspension',
    ...(isSuspended
      ? {
          state: 'The user cannot sign in.',
          button: 'Lift',
          title: 'Lift the suspension',
        }
      : {
          state: 'For a user who must not sign in, but not vanish.',
          button: 'Suspend',
          title: 'Suspend the user',
        }),
    isOffered: (settings.sessions || isSuspended) && !isOwn(user),
    isState: isSuspended,
    act: () => setSuspended(user, !isSuspended),
    done: sentenceOf(user, isSuspended ? 'is no longer suspended.' : 'is suspended.'),
    isDangerous: !isSuspended,
    children: (
      <p>
        <PersonWithAddress user={user} /> {isSuspended ? 'can sign in again.' : suspension}
      </p>
    ),
  };
};

const plain = (address: string): string => address.trim().normalize().toLowerCase();

const deletionOf = (user: UserDetails): Deed => ({
  name: 'Deletion',
  state: 'It cannot be undone.',
  button: 'Delete',
  isForGood: true,
  title: named('Delete', user),
  act: async ({ typed = '' }) => {
    if (plain(typed) !== plain(user.email)) {
      throw new ConsoleError(`Type ${user.email} to delete the user.`);
    }
    if (isOwn(user)) {
      await withoutPasskeys(() => deleteUser(user));
      return void leave('Your account is deleted.');
    }
    await deleteUser(user);
    tellOf(user, 'is deleted.');
    goBackTo('/users');
  },
  failed: 'The user was not deleted',
  submit: 'Delete for good',
  isDangerous: true,
  children: (
    <>
      <p>
        The user is deleted for good, and the address is free for another one. The audit trail keeps
        what the user did, and what was done to the user.
      </p>
      <Field
        label={`Type ${user.email} to confirm`}
        name="typed"
        autoComplete="off"
        spellcheck={false}
        autocapitalize="off"
      />
    </>
  ),
});

const named = (text: string, user: UserDetails): ComponentChildren => (
  <>
    {text} <Person user={user} />
  </>
);

const deeds = [roleOf, auditorOf, passwordOf, linkOf, factorOf, suspensionOf, deletionOf];

const ask = ({ changed }: UserProps, { act, done, ...dialog }: Deed): void => {
  const actAndTell = async (values: Values) => {
    await act(values);
    if (!done) return;
    await changed();
    tell(done);
  };
  openDialog(<FormDialog failed="Nothing was changed" {...dialog} act={actAndTell} />);
};

export const Access = (props: UserProps) => (
  <Card title="Access">
    <ul>
      {deeds
        .map((deedOf) => deedOf(props.user))
        .filter(({ isOffered = true, isState }) => isOffered && (isState || isAdmin()))
        .map((deed) => (
          <ActionRow key={deed.name} name={deed.name} text={deed.state}>
            {deed.button && isAdmin() && (
              <Button
                class={deed.isForGood ? 'danger' : undefined}
                onClick={() => ask(props, deed)}
              >
                {deed.button}
              </Button>
            )}
          </ActionRow>
        ))}
    </ul>
  </Card>
);
