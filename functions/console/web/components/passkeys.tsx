/** One's own passkeys, which one can change, and those of other users, which one can only see. */
import { useState } from 'preact/hooks';
import { api, send, settings } from '../api.ts';
import type { Passkey, PasskeyConfirmation, PasskeyName, UserDetails } from '../contract.d.ts';
import { useLoad } from '../loading.ts';
import { canUsePasskeys, makePasskey, tellBrowser } from '../passkeys.ts';
import { Field, FormDialog } from './form.tsx';
import { Loaded, tell } from './notice.tsx';
import { type Changed, isOwn } from './profile.tsx';
import { Confirmation } from './second-factor.tsx';
import { type Column, Table } from './table.tsx';
import { Time } from './text.tsx';

interface PasskeysProps {
  readonly user: UserDetails;
  readonly changed: Changed;
}

type Listed = Pick<Passkey, 'id' | 'name' | 'created_at'>;

const known: readonly Column<Listed>[] = [
  { title: 'Name', cell: ({ name }) => name, class: 'name' },
  { title: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** The dialog that is open, and the passkey that it changes, unless it adds one. */
interface Asked {
  readonly open: keyof typeof dialogs;
  readonly passkey?: Passkey;
}

const columnsFor = (ask: (asked: Asked) => void): readonly Column<Passkey>[] => [
  ...known,
  {
    title: 'Last used',
    cell: ({ last_used_at: at }) => (at ? <Time at={at} /> : 'never'),
  },
  {
    title: 'Change',
    cell: (passkey) => (
      <div class="row">
        <button type="button" class="small" onClick={() => ask({ open: 'rename', passkey })}>
          Rename
        </button>
        <button type="button" class="small" onClick={() => ask({ open: 'remove', passkey })}>
          Remove
        </button>
      </div>
    ),
  },
];

const pathOf = (passkey: Passkey | undefined) => ({ path: { passkey: passkey?.id ?? '' } });

type Values = PasskeyConfirmation & PasskeyName;

const dialogs = {
  add: {
    title: 'Add a passkey',
    text: 'It signs you in without the password and a code. Your other sessions end.',
    failed: 'No passkey was added',
    done: 'The passkey is added.',
    isNamed: true,
    isConfirmed: true,
    act: async (_: Passkey | undefined, { name, ...confirmation }: Values) => {
      const credential = await makePasskey(confirmation);
      const body = { credential, ...(name.trim() ? { name } : {}) };
      await send(api.POST('/api/passkeys', { body }));
    },
  },
  rename: {
    title: 'Rename the passkey',
    text: '',
    failed: 'The passkey was not renamed',
    done: 'The passkey is renamed.',
    isNamed: true,
    isConfirmed: false,
    act: async (passkey: Passkey | undefined, { name }: Values) => {
      const params = pathOf(passkey);
      await send(api.PATCH('/api/passkeys/{passkey}', { params, body: { name } }));
    },
  },
  remove: {
    title: 'Remove the passkey',
    text: 'It will not sign you in any more. Your other sessions end.',
    failed: 'The passkey was not removed',
    done: 'The passkey is removed.',
    isNamed: false,
    isConfirmed: true,
    act: async (passkey: Passkey | undefined, body: Values) => {
      const params = pathOf(passkey);
      await send(api.POST('/api/passkeys/{passkey}/removals', { params, body }));
    },
  },
} as const;

interface ChangeProps extends PasskeysProps, Asked {
  readonly close: () => void;
}

const Change = ({ open, passkey, user, changed, close }: ChangeProps) => {
  const { title, text, failed, done, isNamed, isConfirmed, act } = dialogs[open];
  const change = async (values: Values) => {
    await act(passkey, values);
    // The change is made, whether or not the browser can be told.
    await tellBrowser().catch(() => undefined);
    await changed();
    tell(done);
  };
  return (
    <FormDialog
      title={title}
      act={change}
      failed={failed}
      isDangerous={open === 'remove'}
      close={close}
    >
      {text && <p>{text}</p>}
      {isNamed && (
        <Field label="Name" name="name" maxLength={100} defaultValue={passkey?.name ?? 'Passkey'} />
      )}
      {isConfirmed && <Confirmation user={user} />}
    </FormDialog>
  );
};

const OwnPasskeys = ({ user, changed }: PasskeysProps) => {
  const passkeys = useLoad('passkeys', async () => (await send(api.GET('/api/passkeys'))).data);
  const [asked, setAsked] = useState<Asked>();
  const changedHere = async () => {
    await passkeys.reload();
    await changed();
  };
  return (
    <>
      <Loaded what="The passkeys" from={passkeys}>
        {(rows) => (
          <Table
            caption="Passkeys"
            columns={columnsFor(setAsked)}
            rows={rows}
            keyOf={({ id }) => id}
            empty="No passkey signs you in."
          />
        )}
      </Loaded>
      {canUsePasskeys && (
        <div class="row">
          <button type="button" onClick={() => setAsked({ open: 'add' })}>
            Add a passkey
          </button>
        </div>
      )}
      {asked && (
        <Change {...asked} user={user} changed={changedHere} close={() => setAsked(undefined)} />
      )}
    </>
  );
};

export const Passkeys = (props: PasskeysProps) =>
  settings.passkeys && (
    <section class="stack">
      <h2>Passkeys</h2>
      {isOwn(props.user) ? (
        <OwnPasskeys {...props} />
      ) : (
        <Table
          caption="Passkeys"
          columns={known}
          rows={props.user.passkeys ?? []}
          keyOf={({ id }) => id}
          empty="No passkey signs this user in."
        />
      )}
    </section>
  );
