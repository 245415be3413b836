/** Confirms changes of how one logs in. */
import { signedIn } from '../session.ts';
import { CodeField, CurrentPassword, UserNameOf } from './form.tsx';
import type { UserProps } from './profile.tsx';

/** The password of whoever is signed in, with the address for password managers. */
export const OwnPassword = () => (
  <>
    <UserNameOf email={signedIn.get().session?.email ?? ''} />
    <CurrentPassword />
  </>
);

/** Confirms a change of how one logs in: by the password, and a code if one has a second factor. */
export const Confirmation = ({ user }: Pick<UserProps, 'user'>) => (
  <>
    <OwnPassword />
    {user.second_factor?.enabled && <CodeField />}
  </>
);
