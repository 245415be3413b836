import { useState } from 'preact/hooks';
import type { NewUserWithRole } from '../../../client/paths.ts';
import { api, send, settings } from '../api.ts';
import { go } from '../router.ts';
import { AddressField, Field, FormDialog, MailLanguage, PasswordField, Select } from './form.tsx';
import { tellOf } from './person.tsx';
import { passwordRule } from './profile.tsx';

/** Creates a user, who is invited unless the admin chooses a password, and opens the user's screen. */
export function NewUser() {
  const [isInvited, setInvited] = useState(settings.passwordReset);
  return (
    <FormDialog
      title="Create a user"
      act={create}
      failed="The user was not created"
      submit="Create the user"
    >
      <Field label="Name" name="name" required autoComplete="off" />
      <AddressField autoComplete="off" pattern={settings.emailPattern} />
      {settings.passwordReset && (
        <Select
          label="First password"
          name="invite"
          options={{ yes: 'The user chooses it, by a link in a mail', no: 'I choose it' }}
          onChange={({ currentTarget }) => setInvited(currentTarget.value === 'yes')}
        />
      )}
      {isInvited ? (
        <MailLanguage />
      ) : (
        <>
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
        </>
      )}
    </FormDialog>
  );
}

type Values = Omit<NewUserWithRole, 'invite'> & { readonly invite?: string };

async function create({ invite, ...values }: Values): Promise<void> {
  const body = { ...values, ...(invite === 'yes' ? { invite: true } : {}) };
  const user = await send(api.POST('/api/users', { body }));
  const link = invite === 'yes' ? `, and a link is mailed to ${user.email}` : '';
  tellOf(user, `was created${link}.`);
  go(`/users/${user.id}`);
}
