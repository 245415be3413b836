/** Confirms changes of the ways to log in. */
import { signedIn } from '../session.ts';
import { CodeField, CurrentPassword, UserNameOf } from './form.tsx';
import type { UserProps } from './profile.tsx';

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
