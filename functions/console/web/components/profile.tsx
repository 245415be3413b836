/** A user's facts, and the changes that users may make to themselves and admins to everybody. */
import { useLayoutEffect, useState } from 'preact/hooks';
import type { User, UserChanges, UserDetails } from '../../../client/paths.ts';
import { api, send, sendUnless, settings } from '../api.ts';
import { counted, utcDay } from '../format.ts';
import { useLoad } from '../loading.ts';
import { tellBrowser } from '../passkeys.ts';
import { now } from '../service.ts';
import { isAdmin, renameSession, signedIn } from '../session.ts';
import { tellUser } from '../trail/known-users.ts';
import { AddressField, CurrentPassword, Field, Form, PasswordField, UserNameOf } from './form.tsx';
import { tell } from './notice.tsx';
import { tellOf } from './person.tsx';
import { Card } from './screen.tsx';
import { Badge, CopyButton, Time, Whole } from './text.tsx';

export const changeUser = async (id: number, body: UserChanges): Promise<User> => {
  const user = await send(api.PUT('/api/users/{id}', { params: { path: { id } }, body }));
  if (isOwn(user)) {
    renameSession(user.email);
    if (body.email ?? body.name) void tellBrowser();
  }
  return user;
};

/** @throws {ConsoleError} */
export const readUser = (id: number): Promise<UserDetails> =>
  send(api.GET('/api/users/{id}', { params: { path: { id } } }));

/** Deletes a user. An earlier attempt whose response was lost may have deleted the user already. */
export const deleteUser = async ({ id }: Pick<User, 'id'>): Promise<void> => {
  const params = { path: { id } };
  await sendUnless('USER_NOT_FOUND', api.DELETE('/api/users/{id}', { params }));
};

/** The consequence of a suspension, as the end of a sentence. */
export const suspension =
  'cannot sign in until you lift the suspension, and is signed out everywhere now.';

/** Suspends a user, or lifts the suspension. @returns the user after the change @throws {ConsoleError} */
export const setSuspended = async (user: User, isSuspended: boolean): Promise<User> => {
  const params = { path: { id: user.id } };
  const path = '/api/users/{id}/suspension';
  await send(isSuspended ? api.PUT(path, { params }) : api.DELETE(path, { params }));
  const { suspended_at: _, ...active } = user;
  return isSuspended ? { ...active, suspended_at: new Date(now()).toISOString() } : active;
};

export const isOwn = ({ id }: Pick<User, 'id'>): boolean => signedIn.get().session?.id === id;

export const mayChange = (user: Pick<User, 'id'>): boolean => isAdmin() || isOwn(user);

/** A user, and the function that shows the user again after a change. */
export interface UserProps {
  readonly user: UserDetails;
  readonly changed: () => Promise<void>;
}

/** Loads a user. The changes are counted, because each may have ended sessions. */
export const useUser = (id: number) => {
  const loaded = useLoad<UserDetails>(`user ${id}`, async () => {
    const user = await readUser(id);
    tellUser(user);
    return user;
  });
  const [changes, setChanges] = useState(0);
  const changed = async () => {
    await loaded.reload();
    setChanges((before) => before + 1);
  };
  return { ...loaded, changes, changed };
};

/** An address; where addresses are verified, an unverified address is marked. */
export const Address = ({ email, email_verified: isVerified }: User) => (
  <span>
    <Whole text={email} /> {isVerified === false && <Badge>Not verified</Badge>}
  </span>
);

/** Whether a time has passed, by a clock that is up to a second behind: responses give only whole seconds. */
export const isOver = (at: string): boolean => Date.parse(at) < now() + 1000;

/** When a user was last seen, a day of UTC, where there are sessions; null: no sign-in is recorded. */
export interface Seen {
  readonly last_seen_on?: string | null | undefined;
}

/** The address of a user, when the user was last seen and when created, beside the name. */
export const UserFacts = ({ user }: { user: UserDetails & Seen }) => (
  <p class="row">
    <span class="row">
      <Address {...user} />
      <CopyButton text={user.email} label="Copy the address" />
    </span>
    {user.last_seen_on && (
      <span class="muted">
        Last seen <Time at={user.last_seen_on} write={utcDay} />
      </span>
    )}
    {user.last_seen_on === null && <span class="muted">Never seen</span>}
    <span class="muted">
      Created <Time at={user.created_at} />
    </span>
  </p>
);

/** The states of a user that end by themselves or by an admin; nothing where there are none. */
export const UserStates = ({ user }: Pick<UserProps, 'user'>) => (
  <p class="row muted">
    {user.pending_email && <span>Waits for the link mailed to {user.pending_email}</span>}
    {user.invited_until && (
      <span>
        Invited, with a link {isOver(user.invited_until) && 'that was valid '}until{' '}
        <Time at={user.invited_until} />
      </span>
    )}
    {user.suspended_at && (
      <span>
        Suspended <Time at={user.suspended_at} />
      </span>
    )}
  </p>
);

/** Mails the link that verifies one’s own address; none is mailed while a link to another address is valid. */
export const OwnAddress = ({ user }: Pick<UserProps, 'user'>) => {
  const { email, email_verified: isVerified, pending_email: isWaiting } = user;
  if (isVerified !== false || isWaiting) return null;
  const mail = async () => {
    await send(api.POST('/api/email-verifications'));
    tell(`A link was mailed to ${email}.`);
  };
  return (
    <Card title="Verify the address">
      <Form act={mail} failed="No link was mailed" submit="Mail the link">
        <p>
          {email} gets a mail with a link by which you show that the address is yours. Only the
          newest one works.
        </p>
      </Form>
    </Card>
  );
};

/** Whether users who change their own password or address must type their current password. */
const asksPassword = (user: User) => settings.sessions && isOwn(user);

export const ProfileForm = ({ user, changed }: UserProps) => {
  const [isMoving, setMoving] = useState(false);
  useLayoutEffect(() => setMoving(false), [user]);
  const save = async ({ name, email: typed = '', ...rest }: UserChanges) => {
    const email = typed.trim();
    const answered = await changeUser(user.id, {
      ...(name === user.name ? {} : { name }),
      ...(email === user.email ? {} : { email, ...rest }),
    });
    await changed();
    tell(
      email === answered.email
        ? 'The changes are saved.'
        : `The address changes when the link mailed to ${email} is used.`,
    );
  };
  return (
    <Form act={save} failed="The changes were not saved" submit="Save the changes" resetOn={user}>
      <div class="columns">
        <Field label="Name" name="name" defaultValue={user.name} required autoComplete="off" />
        <AddressField
          defaultValue={user.email}
          autoComplete="off"
          // The present address may be older than a rule that refuses it.
          pattern={isMoving ? settings.emailPattern : undefined}
          onInput={({ currentTarget }) => setMoving(currentTarget.value.trim() !== user.email)}
        />
      </div>
      {isMoving && asksPassword(user) && <CurrentPassword />}
    </Form>
  );
};

export const passwordRule =
  settings.passwordMinLength > 1 && `At least ${counted(settings.passwordMinLength, 'character')}.`;

const consequenceOf = (user: User): string => {
  if (!settings.sessions) return 'Tokens that were given before stay valid.';
  if (isOwn(user)) return 'All your other sessions end.';
  return settings.identities
    ? 'All sessions of the user end, and all identities are unlinked.'
    : 'All sessions of the user end.';
};

export const NewPassword = ({ user }: Pick<UserProps, 'user'>) => (
  <>
    <UserNameOf email={user.email} />
    {asksPassword(user) && <CurrentPassword />}
    <PasswordField
      label="New password"
      name="password"
      autoComplete="new-password"
      hint={passwordRule}
    />
    <p class="muted">{consequenceOf(user)}</p>
  </>
);

export const PasswordForm = ({ user, changed }: UserProps) => {
  const set = async (body: UserChanges) => {
    await changeUser(user.id, body);
    await changed();
    tellOf(user, 'has a new password.');
  };
  return (
    <Form act={set} failed="No password was set" submit="Set the password" resetOn={user}>
      <NewPassword user={user} />
    </Form>
  );
};
