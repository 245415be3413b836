import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, Failure, send, settings } from '../api.ts';
import { Dialog } from '../components/dialog.tsx';
import { Field, Form } from '../components/form.tsx';
import { Busy, FailureNotice, tell } from '../components/notice.tsx';
import { changeUser, isOwn, PasswordForm, ProfileForm, useUser } from '../components/profile.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { Sessions } from '../components/sessions.tsx';
import { CopyButton, Time } from '../components/text.tsx';
import { UserTrail } from '../components/user-trail.tsx';
import type { User as UserData } from '../contract.d.ts';
import { counted } from '../format.ts';
import { useAction, useLoad } from '../loading.ts';
import { goBackTo, href } from '../router.ts';
import { forgetSession } from '../session.ts';
import { Address, RoleBadge } from './users.tsx';

interface UserProps {
  readonly user: UserData;
}

interface DialogProps extends UserProps {
  readonly changed: (user: UserData) => void;
  readonly close: () => void;
}

/** What nobody changes of a user, and the role. */
export const UserFacts = ({ user }: UserProps) => (
  <p class="actions muted">
    <RoleBadge role={user.role} />
    <span>
      <Address user={user} /> <CopyButton text={user.email} label="Copy the address" />
    </span>
    {user.pending_email && <span>Waits for the link mailed to {user.pending_email}</span>}
    <span>Id {user.id}</span>
    <span>
      Created <Time at={user.created_at} />
    </span>
  </p>
);

const roleEnds = settings.sessions
  ? 'All sessions of the user end now.'
  : 'A token that was given before keeps the role until it expires, within a day.';

const ChangeRole = ({ user, changed, close }: DialogProps) => {
  const role = user.role === 'admin' ? 'user' : 'admin';
  const action = useAction(async () => {
    const answered = await changeUser(user.id, { role });
    tell(`${user.name} is ${role === 'admin' ? 'an admin' : 'no admin any more'}.`);
    if (isOwn(user)) return forgetSession('You are no admin any more.');
    changed(answered);
    close();
  });
  return (
    <Dialog title={role === 'admin' ? 'Make an admin' : 'Take the role away'} close={close}>
      <Form
        action={action}
        failed="The role was not changed"
        submit={role === 'admin' ? `Make ${user.name} an admin` : 'Take the role away'}
        isDangerous
        cancel={close}
      >
        <p>
          {role === 'admin'
            ? `${user.name} (${user.email}) will be allowed to change and delete all users, to make others admins, and to read the whole audit trail.`
            : `${user.name} (${user.email}) will no longer be allowed to change other users, or to read the audit trail.`}
        </p>
        {isOwn(user) && (
          <p>
            <strong>This is you.</strong> Only another admin can give you the role back.
          </p>
        )}
        <p class="hint">{roleEnds}</p>
      </Form>
    </Dialog>
  );
};

const SetPassword = ({ user, changed, close }: DialogProps) => (
  <Dialog title={`Set a password for ${user.name}`} close={close}>
    <PasswordForm
      user={user}
      changed={(answered) => {
        changed(answered);
        close();
      }}
      cancel={close}
    />
  </Dialog>
);

const SendLink = ({ user, close }: DialogProps) => {
  const action = useAction(async () => {
    await send(api.POST('/api/password-resets', { body: { email: user.email } }));
    tell(`A link goes to ${user.email}.`);
    close();
  });
  return (
    <Dialog title="Mail a reset link" close={close}>
      <Form action={action} failed="No link was mailed" submit="Mail the link" cancel={close}>
        <p>
          {user.email} gets a mail with a link by which {user.name} sets a new password. The
          password of today is valid until then.
        </p>
      </Form>
    </Dialog>
  );
};

const deletion = async (id: number): Promise<void> => {
  try {
    await send(api.DELETE('/api/users/{id}', { params: { path: { id } } }));
  } catch (error) {
    // An attempt whose response was lost may have deleted the user.
    if (!(error instanceof Failure && error.code === 'USER_NOT_FOUND')) throw error;
  }
};

const DeleteUser = ({ user, close }: DialogProps) => {
  const [typed, setTyped] = useState('');
  const action = useAction(async () => {
    await deletion(user.id);
    if (isOwn(user)) return forgetSession('Your account is deleted.');
    tell(`${user.name} is deleted.`);
    goBackTo('/users');
  });
  return (
    <Dialog title={`Delete ${user.name}`} close={close}>
      <Form
        action={action}
        failed="The user was not deleted"
        submit="Delete for good"
        isDangerous
        isDisabled={typed.trim().toLowerCase() !== user.email.toLowerCase()}
        cancel={close}
      >
        <p>
          The user is deleted for good, and the address is free for another one. The audit trail
          keeps what the user did, and what was done to the user.
        </p>
        <Field
          label={`Type ${user.email} to confirm`}
          value={typed}
          onValue={setTyped}
          input={{ autoComplete: 'off', spellcheck: false, autocapitalize: 'off' }}
        />
      </Form>
    </Dialog>
  );
};

const RemoveFactor = ({ user, changed, close }: DialogProps) => {
  const params = { path: { id: user.id } };
  const { data, failure, reload } = useLoad(`factor ${user.id}`, () =>
    send(api.GET('/api/users/{id}/second-factor', { params })),
  );
  const action = useAction(async () => {
    await send(api.DELETE('/api/users/{id}/second-factor', { params }));
    tell(`${user.name} signs in without a code.`);
    changed(user);
    close();
  });
  return (
    <Dialog title={`The second factor of ${user.name}`} close={close}>
      <FailureNotice what="It could not be loaded" failure={failure} retry={reload} />
      {!data && !failure && <Busy label="Loading the second factor…" />}
      {data?.enabled === false && <p>{user.name} has none.</p>}
      {data?.enabled && (
        <Form
          action={action}
          failed="It was not removed"
          submit="Remove"
          isDangerous
          cancel={close}
        >
          <p>
            It is enabled, with {counted(data.recovery_codes_left, 'recovery code')} left. Without
            it {user.name} signs in by the password alone: make sure who asks. All sessions of the
            user end.
          </p>
        </Form>
      )}
    </Dialog>
  );
};

interface Deed {
  readonly title: string;
  readonly text: string;
  readonly button: string;
  readonly isDangerous?: boolean;
  readonly Open: (props: DialogProps) => ComponentChildren;
}

const deedsFor = (user: UserData): readonly Deed[] => [
  user.role === 'admin'
    ? {
        title: 'Role',
        text: 'May do all that the API offers.',
        button: 'Take the role away',
        Open: ChangeRole,
      }
    : {
        title: 'Role',
        text: 'May look at users, and change their own account.',
        button: 'Make an admin',
        Open: ChangeRole,
      },
  {
    title: 'Password',
    text: 'You choose one, and hand it over.',
    button: 'Set a password',
    Open: SetPassword,
  },
  ...(settings.passwordReset
    ? [
        {
          title: 'Forgotten password',
          text: 'The user chooses one, by a link in a mail.',
          button: 'Mail a link',
          Open: SendLink,
        },
      ]
    : []),
  ...(settings.secondFactor === 'off' || isOwn(user)
    ? []
    : [
        {
          title: 'Second factor',
          text: 'For a user who has lost the app and the recovery codes.',
          button: 'Look and remove',
          Open: RemoveFactor,
        },
      ]),
  {
    title: 'Deletion',
    text: 'It cannot be undone.',
    button: 'Delete',
    isDangerous: true,
    Open: DeleteUser,
  },
];

const Deeds = (props: Omit<DialogProps, 'close'>) => {
  const [open, setOpen] = useState('');
  const deeds = deedsFor(props.user);
  const Open = deeds.find(({ title }) => title === open)?.Open;
  return (
    <Card title="Access">
      <ul class="rows">
        {deeds.map(({ title, text, button, isDangerous }) => (
          <li key={title}>
            <div>
              <h3>{title}</h3>
              <p class="hint">{text}</p>
            </div>
            <button
              type="button"
              class={isDangerous ? 'danger' : undefined}
              onClick={() => setOpen(title)}
            >
              {button}
            </button>
          </li>
        ))}
      </ul>
      {Open && <Open {...props} close={() => setOpen('')} />}
    </Card>
  );
};

/** A user, with all that an admin can do to it. */
export const User = ({ id }: { id: number }) => {
  const { data, failure, isBusy, reload, changes, changed } = useUser(id);
  const isMissing = failure?.status === 404;
  return (
    <Screen title={data?.name ?? `User ${id}`}>
      {isMissing ? (
        <p class="empty">
          No user has the id {id}.{' '}
          <a href={href('/audit', { resourceId: id })}>See what was done to it</a>
        </p>
      ) : (
        <FailureNotice what="The user could not be loaded" failure={failure} retry={reload} />
      )}
      {!data && isBusy && <Busy label="Loading the user…" />}
      {data && (
        <>
          <UserFacts user={data} />
          <Card title="Profile">
            <ProfileForm user={data} changed={changed} />
          </Card>
          <Deeds user={data} changed={changed} />
          <Sessions key={changes} id={id} />
        </>
      )}
      {!isMissing && <UserTrail id={id} />}
    </Screen>
  );
};
