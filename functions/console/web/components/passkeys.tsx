/** The signed-in user's passkeys, which can be changed, and other users' passkeys, which can only be seen. */

import type { Passkey, PasskeyConfirmation, PasskeyName } from '../../../client/paths.ts';
import { api, send, sendForList } from '../api.ts';
import { localDay } from '../format.ts';
import { useLoad } from '../loading.ts';
import { canUsePasskeys, isInForce, ownPasskeys, tellBrowser } from '../passkeys.ts';
import { Button } from './button.tsx';
import { Confirmation } from './confirmation.tsx';
import { openDialog } from './dialog.tsx';
import { Field, FormDialog } from './form.tsx';
import { tell } from './notice.tsx';
import { isOwn, type UserProps } from './profile.tsx';
import { Card } from './screen.tsx';
import { type Column, LoadedTable, Table } from './table.tsx';
import { Time, Whole } from './text.tsx';

type Listed = Pick<Passkey, 'id' | 'name' | 'created_at' | 'rp_id'>;

const known: readonly Column<Listed>[] = [
  {
    title: 'Name',
    cell: (passkey) => (
      <>
        {passkey.name}{' '}
        {!isInForce(passkey) && (
          <span class="muted">
            Made for <Whole text={passkey.rp_id} />: it cannot sign in.
          </span>
        )}
      </>
    ),
    class: 'name',
  },
  { title: 'Added', cell: ({ created_at: at }) => <Time at={at} write={localDay} /> },
];

/** Opens a dialog about a passkey, or to add a passkey. */
type Ask = (open: keyof typeof dialogs, passkey?: Passkey) => void;

const columnsFor = (ask: Ask): readonly Column<Passkey>[] => [
  ...known,
  {
    title: 'Last used',
    cell: ({ last_used_at: at }) => (at ? <Time at={at} /> : 'never'),
  },
  {
    title: 'Change',
    cell: (passkey) => (
      <div class="row">
        <Button class="small" onClick={() => ask('rename', passkey)}>
          Rename
        </Button>
        <Button class="small" onClick={() => ask('remove', passkey)}>
          Remove
        </Button>
      </div>
    ),
  },
];

type Values = PasskeyConfirmation & PasskeyName;

const dialogs = {
  add: {
    title: 'Add a passkey',
    text: 'It signs you in without the password and a code. Your other sessions end.',
    failed: 'No passkey was added',
    done: 'The passkey is added.',
    act: async (_: Passkey | undefined, { name, ...confirmation }: Values) => {
      await send((await ownPasskeys()).addPasskey(name, confirmation));
    },
  },
  rename: {
    title: 'Rename the passkey',
    text: '',
    failed: 'The passkey was not renamed',
    done: 'The passkey is renamed.',
    act: async (passkey: Passkey | undefined, { name }: Values) => {
      const params = { path: { passkey: passkey?.id ?? '' } };
      await send(api.PATCH('/api/passkeys/{passkey}', { params, body: { name } }));
      await tellBrowser();
    },
  },
  remove: {
    title: 'Remove the passkey',
    text: 'It will not sign you in any more. Your other sessions end.',
    failed: 'The passkey was not removed',
    done: 'The passkey is removed.',
    act: async (passkey: Passkey | undefined, body: Values) => {
      await send((await ownPasskeys()).removePasskey(passkey?.id ?? '', body));
    },
  },
} as const;

interface PasskeyDialogProps extends UserProps {
  readonly open: keyof typeof dialogs;
  readonly passkey: Passkey | undefined;
}

const PasskeyDialog = ({ open, passkey, user, changed }: PasskeyDialogProps) => {
  const { title, text, failed, done, act } = dialogs[open];
  const change = async (values: Values) => {
    await act(passkey, values);
    await changed();
    tell(done);
  };
  return (
    <FormDialog title={title} act={change} failed={failed} isDangerous={open === 'remove'}>
      {text && <p>{text}</p>}
      {open !== 'remove' && (
        <Field label="Name" name="name" maxLength={100} defaultValue={passkey?.name ?? 'Passkey'} />
      )}
      {open !== 'rename' && <Confirmation user={user} />}
    </FormDialog>
  );
};

const OwnPasskeys = ({ user, changed }: UserProps) => {
  const passkeys = useLoad('passkeys', () => sendForList(api.GET('/api/passkeys')));
  const changedHere = async () => {
    await passkeys.reload();
    await changed();
  };
  const ask: Ask = (open, passkey) =>
    openDialog(<PasskeyDialog open={open} passkey={passkey} user={user} changed={changedHere} />);
  return (
    <>
      <LoadedTable
        caption="Passkeys"
        columns={columnsFor(ask)}
        from={passkeys}
        keyOf={({ id }) => id}
        empty="No passkey signs you in."
      />
      {canUsePasskeys && (
        <div class="row">
          <Button onClick={() => ask('add')}>Add a passkey</Button>
        </div>
      )}
    </>
  );
};

export const Passkeys = (props: UserProps) => (
  <Card title="Passkeys">
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
  </Card>
);
