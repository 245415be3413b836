/** The ways to log in: their lists, and what confirms a change of them. */
import { useLoad } from '../loading.ts';
import { signedIn } from '../session.ts';
import { CodeField, CurrentPassword, UserNameOf } from './form.tsx';
import { isOwn, type UserProps } from './profile.tsx';

/**
 * The ways of one kind, which are loaded again after a change.
 * @param load loads the signed-in user's own, which needs no admin's rights
 * @param known another user's
 */
export const useWays = <Way,>(
  { user, changed }: UserProps,
  load: () => Promise<readonly Way[]>,
  known: readonly Way[] = [],
) => {
  const loaded = useLoad('ways', async () => (isOwn(user) ? load() : known));
  const changedHere = () => loaded.reload().then(changed);
  const from = isOwn(user) ? loaded : { ...loaded, data: known };
  return { from, props: { user, changed: changedHere } };
};

/** The password of the signed-in user, with the address for password managers. */
export const OwnPassword = () => (
  <>
    <UserNameOf email={signedIn.get().session?.email ?? ''} />
    <CurrentPassword />
  </>
);

/** Confirms a change of the ways to log in: by the password, and by a code if the user has a second factor. */
export const Confirmation = ({ user }: Pick<UserProps, 'user'>) => (
  <>
    <OwnPassword />
    {user.second_factor?.enabled && <CodeField />}
  </>
);
