/** The identities by which a user logs in. */

import type { Identity, IdentityRemoval } from '../../../client/paths.ts';
import { api, send, sendForList } from '../api.ts';
import { localDay } from '../format.ts';
import { RowButton } from './button.tsx';
import { openDialog } from './dialog.tsx';
import { FormDialog } from './form.tsx';
import { tell } from './notice.tsx';
import { Person } from './person.tsx';
import { isOwn, mayChange, type UserProps } from './profile.tsx';
import { Card } from './screen.tsx';
import { type Column, LoadedTable } from './table.tsx';
import { Time, Whole } from './text.tsx';
import { Confirmation, useWays } from './ways.tsx';

const known: readonly Column<Identity>[] = [
  { title: 'Issuer', cell: ({ issuer }) => <Whole text={issuer} />, class: 'name' },
  { title: 'Address', cell: ({ email }) => email ?? 'unknown' },
  { title: 'Linked', cell: ({ created_at: at }) => <Time at={at} write={localDay} /> },
];

const unlinkFor = (props: UserProps): Column<Identity> => ({
  title: 'Unlink',
  isSaid: true,
  cell: (identity, number) => (
    <RowButton
      title="Unlink"
      of={`${number}, ${identity.issuer}`}
      onClick={() => openDialog(<Unlink {...props} identity={identity} />)}
    />
  ),
});

/** Asks before an identity is unlinked. Users must confirm it for their own; admins need not. */
const Unlink = ({
  user,
  identity: { id: identity, issuer },
  changed,
}: UserProps & { readonly identity: Identity }) => {
  const act = async (body: IdentityRemoval) => {
    const params = { path: { id: user.id, identity } };
    if (isOwn(user)) await send(api.POST('/api/identities/{identity}/removals', { params, body }));
    else await send(api.DELETE('/api/users/{id}/identities/{identity}', { params }));
    await changed();
    tell('The identity is unlinked.');
  };
  return (
    <FormDialog
      title="Unlink the identity"
      act={act}
      failed="Nothing was unlinked"
      submit="Unlink"
      isDangerous
    >
      {isOwn(user) ? (
        <>
          <p>{issuer} will not sign you in any more. All your other sessions end.</p>
          <Confirmation user={user} />
        </>
      ) : (
        <p>
          {issuer} will not sign <Person user={user} /> in any more. All sessions of the user end.
        </p>
      )}
    </FormDialog>
  );
};

export const Identities = ({ user, changed }: UserProps) => {
  const load = () => sendForList(api.GET('/api/identities'));
  const { from, props } = useWays({ user, changed }, load, user.identities);
  return (
    <Card title="Identities">
      <LoadedTable
        caption="Identities"
        columns={mayChange(user) ? [...known, unlinkFor(props)] : known}
        from={from}
        keyOf={({ id }) => id}
        empty="No identity of another issuer is linked to this account."
      />
    </Card>
  );
};
