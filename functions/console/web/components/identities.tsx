/** The identities by which whoever is signed in logs in, where there are any. */
import { useState } from 'preact/hooks';
import { api, send, settings } from '../api.ts';
import type { Identity } from '../contract.d.ts';
import { useLoad } from '../loading.ts';
import { FormDialog } from './form.tsx';
import { Loaded, tell } from './notice.tsx';
import { type Column, Table } from './table.tsx';
import { Time } from './text.tsx';

const columnsFor = (unlink: (identity: Identity) => void): readonly Column<Identity>[] => [
  { title: 'Issuer', cell: ({ issuer }) => <span class="whole">{issuer}</span>, class: 'name' },
  { title: 'Address', cell: ({ email }) => email ?? 'unknown' },
  { title: 'Linked', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: 'Unlink',
    cell: (identity) => (
      <button type="button" class="small" onClick={() => unlink(identity)}>
        Unlink
      </button>
    ),
  },
];

/** Asks before an identity is unlinked. */
const Unlink = ({ identity, close }: { identity: Identity; close: () => void }) => {
  const act = async () => {
    const path = { identity: identity.id };
    await send(api.DELETE('/api/identities/{identity}', { params: { path } }));
    tell('The identity is unlinked.');
    close();
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
      <p>{identity.issuer} will not log you in any more. All your other sessions end.</p>
    </FormDialog>
  );
};

const IdentitiesOfCaller = () => {
  const identities = useLoad(
    'identities',
    async () => (await send(api.GET('/api/identities'))).data,
  );
  const [asked, setAsked] = useState<Identity>();
  const close = () => {
    setAsked(undefined);
    identities.reload();
  };
  return (
    <section class="stack">
      <h2>Identities</h2>
      <Loaded what="The identities" from={identities}>
        {(rows) => (
          <Table
            caption="Identities"
            columns={columnsFor(setAsked)}
            rows={rows}
            keyOf={({ id }) => id}
            empty="No identity of another issuer is linked to this account."
          />
        )}
      </Loaded>
      {asked && <Unlink identity={asked} close={close} />}
    </section>
  );
};

export const Identities = () => settings.identities && <IdentitiesOfCaller />;
