import { api, send, settings } from '../api.ts';
import type { NewUserWithRole } from '../contract.d.ts';
import { go } from '../router.ts';
import { AddressField, Field, FormDialog, PasswordField, Select } from './form.tsx';
import { tell } from './notice.tsx';
import { Named } from './person.tsx';
import { passwordRule } from './profile.tsx';

/** Asks for a new user, and goes to it when it is created. */
export function NewUser({ close }: { close: () => void }) {
  return (
    <FormDialog
      title="Create a user"
      act={create}
      failed="The user was not created"
      submit="Create the user"
      close={close}
    >
      <Field label="Name" name="name" required autoComplete="off" />
      <AddressField autoComplete="off" pattern={settings.emailPattern} />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="new-password"
        hint={passwordRule}
      />
      <Select
        label="Role"
        name="role"
        options={{ user: 'User', admin: 'Admin: may do everything' }}
      />
    </FormDialog>
  );
}

async function create(body: NewUserWithRole): Promise<void> {
  const user = await send(api.POST('/api/users', { body }));
  tell(
    <>
      <Named user={user} /> was created.
    </>,
  );
  go(`/users/${user.id}`);
}
