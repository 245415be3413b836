/** A user: what users may change of themselves, and admins of everybody. */
import { useState } from 'preact/hooks';
import { api, send, settings } from '../api.ts';
import type { User, UserChanges } from '../contract.d.ts';
import { counted } from '../format.ts';
import { useAction, useLoad } from '../loading.ts';
import { renameSession, signedIn } from '../session.ts';
import { Field, Form, PasswordField } from './form.tsx';
import { tell } from './notice.tsx';

/** @throws {Failure} */
export const changeUser = (id: number, body: UserChanges): Promise<User> =>
  send(api.PUT('/api/users/{id}', { params: { path: { id } }, body }));

export const isOwn = ({ id }: Pick<User, 'id'>): boolean => signedIn.get().session?.id === id;

/**
 * Loads a user.
 * @returns with it `changed`, to be called with the user after a change, and `changes`, their number:
 * a change may have ended sessions
 */
export const useUser = (id: number) => {
  const { update, ...loaded } = useLoad(`user ${id}`, () =>
    send(api.GET('/api/users/{id}', { params: { path: { id } } })),
  );
  const [changes, setChanges] = useState(0);
  const changed = (user: User) => {
    update(() => user);
    setChanges((before) => before + 1);
    if (isOwn(user)) renameSession(user.email);
  };
  return { ...loaded, changes, changed };
};

/** Whether users who change their own password or address must type their current password. */
const asksPassword = (user: User) => settings.sessions && isOwn(user);

interface CurrentPasswordProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
}

const CurrentPassword = (props: CurrentPasswordProps) => (
  <PasswordField {...props} label="Current password" autoComplete="current-password" />
);

/** The form for a name and an address. */
export const ProfileForm = ({ user, changed }: Pick<PasswordFormProps, 'user' | 'changed'>) => {
  const [name, setName] = useState(user.name);
  const [email, setEmail] = useState(user.email);
  const [currentPassword, setCurrentPassword] = useState('');
  const asks = asksPassword(user) && email !== user.email;
  const changes = {
    ...(name === user.name ? {} : { name }),
    ...(email === user.email ? {} : { email, ...(asks ? { currentPassword } : {}) }),
  };
  const action = useAction(async () => {
    const answered = await changeUser(user.id, changes);
    changed(answered);
    setName(answered.name);
    setEmail(answered.email);
    setCurrentPassword('');
    const waits = email !== user.email && answered.email === user.email;
    tell(
      waits
        ? `The address changes when the link mailed to ${email} is used.`
        : 'The changes are saved.',
    );
  });
  const { faults = {} } = action.failure ?? {};
  const input = { required: true, autoComplete: 'off' } as const;
  return (
    <Form
      action={action}
      failed="The changes were not saved"
      submit="Save the changes"
      isDisabled={Object.keys(changes).length === 0}
    >
      <div class="columns">
        <Field label="Name" value={name} onValue={setName} fault={faults.name} input={input} />
        <Field
          label="Email address"
          value={email}
          onValue={setEmail}
          fault={faults.email}
          input={{ ...input, type: 'email' }}
        />
      </div>
      {asks && <CurrentPassword value={currentPassword} onValue={setCurrentPassword} />}
    </Form>
  );
};

/** What is said of new passwords, where there is something to say. */
export const passwordRule =
  settings.passwordMinLength > 1 && `At least ${counted(settings.passwordMinLength, 'character')}.`;

const consequenceOf = (user: User): string => {
  if (!settings.sessions) return 'Tokens that were given before stay valid.';
  return isOwn(user) ? 'All your other sessions end.' : 'All sessions of the user end.';
};

interface PasswordFormProps {
  readonly user: User;
  readonly changed: (user: User) => void;
  readonly cancel?: () => void;
}

/** The form for a new password. */
export const PasswordForm = ({ user, changed, cancel }: PasswordFormProps) => {
  const [password, setPassword] = useState('');
  const [currentPassword, setCurrentPassword] = useState('');
  const asks = asksPassword(user);
  const action = useAction(async () => {
    const answered = await changeUser(user.id, {
      password,
      ...(asks ? { currentPassword } : {}),
    });
    setPassword('');
    setCurrentPassword('');
    tell(`The password of ${user.name} is set.`);
    changed(answered);
  });
  return (
    <Form action={action} failed="No password was set" submit="Set the password" cancel={cancel}>
      {/* Password managers keep the password with it. */}
      <input hidden readOnly type="text" autoComplete="username" value={user.email} />
      {asks && <CurrentPassword value={currentPassword} onValue={setCurrentPassword} />}
      <NewPassword value={password} onValue={setPassword} fault={action.failure?.faults.password} />
      <p class="hint">{consequenceOf(user)}</p>
    </Form>
  );
};

/** A new password, with the rule for it. */
const NewPassword = (props: CurrentPasswordProps & { readonly fault?: string | undefined }) => (
  <PasswordField {...props} label="New password" autoComplete="new-password" hint={passwordRule} />
);
