/** The identities by which a user logs in, where there are any. */
import { useState } from 'preact/hooks';
import { api, send, settings } from '../api.ts';
import type { Identity, IdentityRemoval, UserDetails } from '../contract.d.ts';
import { useLoad } from '../loading.ts';
import { FormDialog } from './form.tsx';
import { Loaded, tell } from './notice.tsx';
import { Person } from './person.tsx';
import { type Changed, isOwn, mayChange } from './profile.tsx';
import { Confirmation } from './second-factor.tsx';
import { type Column, Table } from './table.tsx';
import { Time, Whole } from './text.tsx';

const columnsFor = (unlink?: (identity: Identity) => void): readonly Column<Identity>[] => [
  { title: 'Issuer', cell: ({ issuer }) => <Whole text={issuer} />, class: 'name' },
  { title: 'Address', cell: ({ email }) => email ?? 'unknown' },
  { title: 'Linked', cell: ({ created_at }) => <Time at={created_at} /> },
  ...(unlink
    ? [
        {
          title: 'Unlink',
          cell: (identity: Identity) => (
            <button type="button" class="small" onClick={() => unlink(identity)}>
              Unlink
            </button>
          ),
        },
      ]
    : []),
];

interface IdentitiesProps {
  readonly user: UserDetails;
  readonly changed: Changed;
}

interface UnlinkProps extends IdentitiesProps {
  readonly identity: Identity;
  readonly close: () => void;
}

/** Asks before an identity is unlinked. Users confirm it for their own, and admins unlink those of others. */
const Unlink = ({ user, identity: { id: identity, issuer }, changed, close }: UnlinkProps) => {
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
      close={close}
    >
      {isOwn(user) ? (
        <>
          <p>{issuer} will not log you in any more. All your other sessions end.</p>
          <Confirmation user={user} />
        </>
      ) : (
        <p>
          {issuer} will not log <Person user={user} /> in any more. All sessions of the user end.
        </p>
      )}
    </FormDialog>
  );
};

const List = ({ rows, ...props }: IdentitiesProps & { readonly rows: readonly Identity[] }) => {
  const [asked, setAsked] = useState<Identity>();
  return (
    <>
      <Table
        caption="Identities"
        columns={columnsFor(mayChange(props.user) ? setAsked : undefined)}
        rows={rows}
        keyOf={({ id }) => id}
        empty="No identity of another issuer is linked to this account."
      />
      {asked && <Unlink {...props} identity={asked} close={() => setAsked(undefined)} />}
    </>
  );
};

/** The identities of the signed-in user, which need no admin's rights to load. */
const OwnIdentities = ({ user, changed }: IdentitiesProps) => {
  const identities = useLoad(
    'identities',
    async () => (await send(api.GET('/api/identities'))).data,
  );
  const changedHere = async () => {
    await identities.reload();
    await changed();
  };
  return (
    <Loaded what="The identities" from={identities}>
      {(rows) => <List rows={rows} user={user} changed={changedHere} />}
    </Loaded>
  );
};

export const Identities = (props: IdentitiesProps) =>
  settings.identities && (
    <section class="stack">
      <h2>Identities</h2>
      {isOwn(props.user) ? (
        <OwnIdentities {...props} />
      ) : (
        <List {...props} rows={props.user.identities ?? []} />
      )}
    </section>
  );
