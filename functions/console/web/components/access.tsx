/** The actions of admins on a user, each with its dialog. Auditors see only the states. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, Failure, send, settings } from '../api.ts';
import type { Invitation, UserDetails } from '../contract.d.ts';
import { counted } from '../format.ts';
import { goBackTo } from '../router.ts';
import { forgetSession, isAdmin } from '../session.ts';
import { Dialog } from './dialog.tsx';
import { Cancel, Field, FormDialog, MailLanguage } from './form.tsx';
import { tell } from './notice.tsx';
import { Person, PersonWithAddress, tellOf } from './person.tsx';
import {
  type Changed,
  changeUser,
  deleteUser,
  isOwn,
  PasswordForm,
  setSuspended,
} from './profile.tsx';
import { Card } from './screen.tsx';

interface AccessProps {
  readonly user: UserDetails;
  readonly changed: Changed;
}

interface DialogProps extends AccessProps {
  readonly close: () => void;
}

/** The consequence of a suspension, as the end of a sentence. */
export const suspension =
  'cannot sign in until you lift the suspension, and is signed out everywhere now.';

const atOnce = 'It holds at once, in open sessions too.';
const untilExpiry = 'A token that was given before keeps the role until it expires, within a day.';

/** The changes of a user's rights. */
const standings = {
  admin: {
    body: { role: 'admin' },
    title: 'Make an admin',
    text: 'will be allowed to change and delete all users, to make others admins, and to read the whole audit trail.',
    done: 'is an admin.',
    note: settings.sessions ? atOnce : untilExpiry,
  },
  user: {
    body: { role: 'user' },
    title: 'Take the role away',
    text: 'will no longer be allowed to change other users, or as an admin to read the audit trail.',
    done: 'is no longer an admin.',
    note: settings.sessions ? 'All sessions of the user end now.' : untilExpiry,
  },
  auditor: {
    body: { auditor: true },
    title: 'Make an auditor',
    text: 'will be allowed to see all of every user but sessions, and to read the whole audit trail.',
    done: 'is an auditor.',
    note: atOnce,
  },
  none: {
    body: { auditor: false },
    title: 'End the auditor’s rights',
    text: 'will no longer be allowed to read the audit trail as an auditor.',
    done: 'is no longer an auditor.',
    note: atOnce,
  },
} as const;

const Change = ({
  user,
  changed,
  close,
  to,
}: DialogProps & { readonly to: keyof typeof standings }) => {
  // Kept, because `to` becomes the opposite change once the user is loaded again.
  const [{ body, title, text, done, note }] = useState(standings[to]);
  const isLeaving = to === 'user' && isOwn(user);
  const change = async () => {
    await changeUser(user.id, body);
    tellOf(user, done);
    if (isLeaving) return forgetSession('You are no longer an admin.');
    await changed();
  };
  return (
    <FormDialog title={title} act={change} failed="Nothing was changed" isDangerous close={close}>
      <p>
        <PersonWithAddress user={user} /> {text}
      </p>
      {isLeaving && (
        <p>
          <strong>This is you.</strong> Only another admin can give you the role back.
        </p>
      )}
      <p class="muted">{note}</p>
    </FormDialog>
  );
};

const ChangeRole = (props: DialogProps) => (
  <Change {...props} to={props.user.role === 'admin' ? 'user' : 'admin'} />
);

const ChangeAuditor = (props: DialogProps) => (
  <Change {...props} to={props.user.auditor ? 'none' : 'auditor'} />
);

const SetPassword = ({ user, changed, close }: DialogProps) => (
  <Dialog
    title={
      <>
        Set a password for <Person user={user} />
      </>
    }
    close={close}
  >
    <PasswordForm
      user={user}
      changed={async () => {
        await changed();
        close();
      }}
      beside={<Cancel close={close} />}
    />
  </Dialog>
);

/** Mails the link by which a user sets a password: a first one, or a new one. */
const SendLink = ({ user, changed, close }: DialogProps) => {
  const { id, email, invited_until: isInvited } = user;
  const mail = async (body: Invitation) => {
    const params = { path: { id } };
    if (isInvited) await send(api.POST('/api/users/{id}/invitations', { params, body }));
    else await send(api.POST('/api/password-resets', { body: { email } }));
    await changed();
    tell(`A link goes to ${email}.`);
  };
  return (
    <FormDialog
      title={isInvited ? 'Send the invitation again' : 'Mail a reset link'}
      act={mail}
      failed="No link was mailed"
      submit="Mail the link"
      close={close}
    >
      <p>
        {email} gets a mail with a link by which <Person user={user} /> sets a{' '}
        {isInvited ? 'first' : 'new'} password.{' '}
        {isInvited
          ? 'It is valid for seven days; the one before no longer works.'
          : 'The password of today is valid until then.'}
      </p>
      {isInvited && <MailLanguage />}
    </FormDialog>
  );
};

/** An address as it is compared with what was typed. */
const plain = (address: string): string => address.trim().normalize().toLowerCase();

const DeleteUser = ({ user, close }: DialogProps) => {
  const remove = async ({ typed }: { typed: string }) => {
    if (plain(typed) !== plain(user.email)) {
      throw new Failure(`Type ${user.email} to delete the user.`);
    }
    await deleteUser(user);
    if (isOwn(user)) return forgetSession('Your account is deleted.');
    tellOf(user, 'is deleted.');
    goBackTo('/users');
  };
  return (
    <FormDialog
      title={
        <>
          Delete <Person user={user} />
        </>
      }
      act={remove}
      failed="The user was not deleted"
      submit="Delete for good"
      isDangerous
      close={close}
    >
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
    </FormDialog>
  );
};

const Suspend = ({ user, changed, close }: DialogProps) => {
  const isSuspended = user.suspended_at !== undefined;
  const title = isSuspended ? 'Lift the suspension' : 'Suspend the user';
  const change = async () => {
    await setSuspended(user, !isSuspended);
    await changed();
    tellOf(user, isSuspended ? 'is no longer suspended.' : 'is suspended.');
  };
  return (
    <FormDialog title={title} act={change} failed="Nothing was changed" isDangerous close={close}>
      <p>
        <PersonWithAddress user={user} /> {isSuspended ? 'can sign in again.' : suspension}
      </p>
    </FormDialog>
  );
};

const RemoveFactor = ({ user, changed, close }: DialogProps) => {
  const remove = async () => {
    const params = { path: { id: user.id } };
    await send(api.DELETE('/api/users/{id}/second-factor', { params }));
    await changed();
    tellOf(user, 'signs in without a code.');
  };
  return (
    <FormDialog
      title="Remove the second factor"
      act={remove}
      failed="The second factor was not removed"
      submit="Remove"
      isDangerous
      close={close}
    >
      <p>
        Without it <Person user={user} /> signs in by the password alone: make sure that you know
        who asks. {settings.passkeys && 'All passkeys are removed too. '}All sessions of the user
        end.
      </p>
      <p class="muted">
        Only an admin who has a second factor
        {settings.passkeys && ', or has signed in by a passkey,'} can remove that of another user.
      </p>
    </FormDialog>
  );
};

interface Deed {
  readonly title: string;
  readonly text: string;
  /** Absent: there is nothing to do. */
  readonly button?: string | undefined;
  readonly Open: (props: DialogProps) => ComponentChildren;
  readonly isOffered?: boolean;
  /** Whether auditors see it too, because its text says how the user is now. */
  readonly isState?: boolean;
}

/** The state of the second factor, as which passkeys count too, and whether it can be removed. */
const factorOf = ({
  second_factor: factor,
  passkeys = [],
}: UserDetails): Pick<Deed, 'text' | 'button'> => {
  const states = [
    factor?.enabled && `Enabled, ${counted(factor.recovery_codes_left, 'recovery code')} left.`,
    passkeys.length > 0 && `${counted(passkeys.length, 'passkey')}.`,
  ].filter(Boolean);
  return states.length > 0
    ? { text: states.join(' '), button: 'Remove' }
    : { text: 'There is none.' };
};

const deedsFor = (user: UserDetails): readonly Deed[] => [
  {
    title: 'Role',
    ...(user.role === 'admin'
      ? { text: 'May do all that the API offers.', button: 'Take the role away' }
      : { text: 'May look at users, and change their own account.', button: 'Make an admin' }),
    Open: ChangeRole,
    isState: true,
    isOffered: !user.invited_until,
  },
  {
    title: 'Auditor',
    ...(user.auditor
      ? { text: 'Reads all users and the audit trail.', button: 'End it' }
      : { text: 'For a user who reads all users and the audit trail.', button: 'Make an auditor' }),
    Open: ChangeAuditor,
    isOffered: settings.sessions && !user.invited_until,
  },
  {
    title: 'Password',
    text: 'You choose one, and hand it over.',
    button: 'Set a password',
    Open: SetPassword,
  },
  {
    ...(user.invited_until
      ? { title: 'Invitation', text: 'The user has no password yet.', button: 'Send again' }
      : {
          title: 'Forgotten password',
          text: 'The user chooses one, by a link in a mail.',
          button: 'Mail a link',
        }),
    Open: SendLink,
    isOffered: settings.passwordReset,
    isState: user.invited_until !== undefined,
  },
  {
    title: 'Second factor',
    ...factorOf(user),
    Open: RemoveFactor,
    isOffered: (settings.secondFactor !== 'off' || settings.passkeys !== undefined) && !isOwn(user),
    isState: true,
  },
  {
    title: 'Suspension',
    ...(user.suspended_at
      ? { text: 'The user cannot sign in.', button: 'Lift' }
      : { text: 'For a user who must not sign in, but not vanish.', button: 'Suspend' }),
    Open: Suspend,
    isOffered: (settings.sessions || user.suspended_at !== undefined) && !isOwn(user),
    isState: user.suspended_at !== undefined,
  },
  { title: 'Deletion', text: 'It cannot be undone.', button: 'Delete', Open: DeleteUser },
];

/** Everything that an admin can do to a user, but for changes of the profile. */
export const Access = (props: AccessProps) => {
  const [open, setOpen] = useState<Deed>();
  return (
    <Card title="Access">
      <ul>
        {deedsFor(props.user)
          .filter(({ isOffered = true, isState }) => isOffered && (isState || isAdmin()))
          .map((deed) => (
            <li key={deed.title} class="row apart">
              <div>
                <strong>{deed.title}</strong>
                <p class="muted">{deed.text}</p>
              </div>
              {deed.button && isAdmin() && (
                <button
                  type="button"
                  class={deed.Open === DeleteUser ? 'danger' : undefined}
                  onClick={() => setOpen(deed)}
                >
                  {deed.button}
                </button>
              )}
            </li>
          ))}
      </ul>
      {open && <open.Open {...props} close={() => setOpen(undefined)} />}
    </Card>
  );
};
