/** The dialogs of admins about a machine. */
import type { Machine, MachineWithKey } from '../../../client/paths.ts';
import { api, ConsoleError, send, sendUnless } from '../api.ts';
import { useAsk } from '../leaving.ts';
import { changesFrom, curlOf, type Scope, scopes } from '../machine.ts';
import { fromLocal, toLocal } from '../trail/query.ts';
import { Button } from './button.tsx';
import { closeDialog, Dialog, openDialog } from './dialog.tsx';
import { Field, FormDialog } from './form.tsx';
import { MachineName } from './machine-name.tsx';
import { tell } from './notice.tsx';
import { CopyButton } from './text.tsx';

interface Props {
  readonly machine: Machine;
  readonly reload: () => Promise<void>;
}

type Values = Readonly<Record<string, string>>;

export const NewMachine = ({ reload }: Pick<Props, 'reload'>) => {
  const act = async (values: Values) => {
    const body = meant(values);
    const made = await send(api.POST('/api/machines', { body })).finally(reload);
    openDialog(<NewKey machine={made} />);
  };
  return (
    <FormDialog title="Make a machine" act={act} failed="The machine was not made">
      <Fields />
    </FormDialog>
  );
};

const paramsOf = ({ id }: Machine) => ({ path: { machine: String(id) } });

export const ChangeMachine = ({ machine, reload }: Props) => {
  const params = paramsOf(machine);
  const act = async (values: Values) => {
    const body = changesFrom(machine, meant(values, machine.expires_at));
    if (body) await send(api.PUT('/api/machines/{machine}', { params, body })).finally(reload);
    tell('The changes are saved.');
  };
  return (
    <FormDialog
      title="Change the machine"
      act={act}
      failed="The changes were not saved"
      submit="Save the changes"
    >
      <p>
        <MachineName id={machine.id} />
      </p>
      <Fields machine={machine} />
    </FormDialog>
  );
};

export const AnotherKey = ({ machine, reload }: Props) => {
  const params = paramsOf(machine);
  const act = async ({ endPrevious }: Values) => {
    const body = endPrevious ? { endPrevious: true } : {};
    const made = await send(api.POST('/api/machines/{machine}/keys', { params, body })).finally(
      reload,
    );
    openDialog(<NewKey machine={made} />);
  };
  return (
    <FormDialog title="Make another key" act={act} failed="No key was made" submit="Make the key">
      <p>
        <MachineName id={machine.id} /> has a key. This key is good for 24 hours more, so that there
        is time to replace it. A key that it has replaced ends now.
      </p>
      <p>
        <label>
          <input type="checkbox" name="endPrevious" /> End the present key now
        </label>
      </p>
    </FormDialog>
  );
};

export const RemoveMachine = ({ machine, reload }: Props) => {
  const params = paramsOf(machine);
  const act = async () => {
    const removed = api.DELETE('/api/machines/{machine}', { params });
    await sendUnless('MACHINE_NOT_FOUND', removed).finally(reload);
    tell('The machine is removed.');
  };
  return (
    <FormDialog
      title="Remove the machine"
      act={act}
      failed="The machine was not removed"
      isDangerous
    >
      <p>
        <MachineName id={machine.id} /> can call nothing any more: its keys end now. The trail keeps
        what it did.
      </p>
    </FormDialog>
  );
};

/** Shows a key, which nobody can see again: leaving it asks, except by its own button. */
const NewKey = ({ machine }: { machine: MachineWithKey }) => {
  const { id, key } = machine;
  const command = curlOf(location.origin, machine);
  useAsk(() => 'The key is not shown again. Leave it?');
  return (
    <Dialog title="The key">
      <p>
        The key of <MachineName id={id} /> is shown this once. Keep it where the other service reads
        its secrets.
      </p>
      <p>
        <code>{key}</code> <CopyButton text={key} label="Copy the key" />
      </p>
      {machine.scopes.includes('audit:write') && (
        <>
          <p>
            This command writes an entry: <CopyButton text={command} label="Copy the command" />
          </p>
          <pre>{command}</pre>
        </>
      )}
      <p class="row">
        <Button class="primary" onClick={closeDialog}>
          I have kept the key
        </Button>
      </p>
    </Dialog>
  );
};

const Fields = ({ machine }: { machine?: Machine }) => (
  <>
    <Field label="Name" name="name" required autoComplete="off" defaultValue={machine?.name} />
    <fieldset>
      <legend>What it may do</legend>
      {Object.entries(scopes).map(([scope, allows]) => (
        <p key={scope}>
          <label>
            <input
              type="checkbox"
              name={scope}
              defaultChecked={machine?.scopes.includes(scope as Scope) ?? false}
            />{' '}
            {scope}
          </label>{' '}
          <span class="muted">{allows}</span>
        </p>
      ))}
    </fieldset>
    <Field
      label="End"
      name="expiresAt"
      type="datetime-local"
      step="any"
      max="9999-12-31T23:59"
      defaultValue={toLocal(machine?.expires_at ?? '')}
      hint="Its keys end then. Empty: never."
    />
  </>
);

/** The machine that the fields mean. @param before the end that was put into its field */
const meant = (values: Values, before: string | null = null) => {
  const chosen = (Object.keys(scopes) as Scope[]).filter((scope) => values[scope]);
  if (chosen.length === 0) throw new ConsoleError('Choose at least one thing that it may do.');
  const { name = '', expiresAt = '' } = values;
  return { name, scopes: chosen, expiresAt: fromLocal(expiresAt, before ?? '') || null };
};
