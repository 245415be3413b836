/** The signed-in user's passkeys, which can be changed, and other users' passkeys, which can only be seen. */

import type { Passkey, PasskeyConfirmation, PasskeyName } from '../../../client/paths.ts';
import { api, send, sendForList } from '../api.ts';
import { localDay } from '../format.ts';
import { canUsePasskeys, isInForce, ownPasskeys, tellBrowser } from '../passkeys.ts';
import { Button, RowButton } from './button.tsx';
import { openDialog } from './dialog.tsx';
import { Field, FormDialog } from './form.tsx';
import { tell } from './notice.tsx';
import { isOwn, type UserProps } from './profile.tsx';
import { Card } from './screen.tsx';
import { type Column, LoadedTable } from './table.tsx';
import { Time, Whole } from './text.tsx';
import { Confirmation, useWays } from './ways.tsx';

type Listed = Pick<Passkey, 'id' | 'name' | 'created_at' | 'rp_id'> &
  Partial<Pick<Passkey, 'last_used_at'>>;

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

const ownFor = (props: UserProps): readonly Column<Listed>[] => [
  {
    title: 'Last used',
    cell: ({ last_used_at: at }) => (at ? <Time at={at} /> : 'never'),
  },
  {
    title: 'Change',
    cell: (passkey, number) => (
      <div class="row">
        <RowButton
          title="Rename"
          of={`${number}, ${passkey.name}`}
          onClick={() => ask('rename', props, passkey)}
        />
        <RowButton
          title="Remove"
          of={`${number}, ${passkey.name}`}
          onClick={() => ask('remove', props, passkey)}
        />
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
    act: async (_: Listed | undefined, { name, ...confirmation }: Values) => {
      await send((await ownPasskeys()).addPasskey(name, confirmation));
    },
  },
  rename: {
    title: 'Rename the passkey',
    text: '',
    failed: 'The passkey was not renamed',
    done: 'The passkey is renamed.',
    act: async (passkey: Listed | undefined, { name }: Values) => {
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
    act: async (passkey: Listed | undefined, body: Values) => {
      await send((await ownPasskeys()).removePasskey(passkey?.id ?? '', body));
    },
  },
} as const;

const PasskeyDialog = ({
  open,
  passkey,
  user,
  changed,
}: UserProps & { open: keyof typeof dialogs; passkey: Listed | undefined }) => {
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

const ask = (open: keyof typeof dialogs, props: UserProps, passkey?: Listed): void =>
  openDialog(<PasskeyDialog {...props} open={open} passkey={passkey} />);

export const Passkeys = ({ user, changed }: UserProps) => {
  const load = () => sendForList(api.GET('/api/passkeys'));
  const { from, props } = useWays<Listed>({ user, changed }, load, user.passkeys);
  return (
    <Card title="Passkeys">
      <LoadedTable
        caption="Passkeys"
        columns={isOwn(user) ? [...known, ...ownFor(props)] : known}
        from={from}
        keyOf={({ id }) => id}
        empty={`No passkey signs ${isOwn(user) ? 'you' : 'this user'} in.`}
      />
      {isOwn(user) && canUsePasskeys && (
        <div class="row">
          <Button onClick={() => ask('add', props)}>Add a passkey</Button>
        </div>
      )}
    </Card>
  );
};
