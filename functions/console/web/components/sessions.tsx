import { useState } from 'preact/hooks';
import { api, Failure, send, settings } from '../api.ts';
import type { SessionOfUser } from '../contract.d.ts';
import { useAction, useLoad } from '../loading.ts';
import { readableAgent } from '../trail/agent.ts';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Busy, FailureNotice, tell } from './notice.tsx';
import { type Column, Table } from './table.tsx';
import { Badge, Time } from './text.tsx';

const agentOf = ({ user_agent: agent }: SessionOfUser) => readableAgent(agent ?? 'Unknown');
const sourceOf = ({ ip_address: source }: SessionOfUser) => source ?? 'unknown';

const columns: readonly Column<SessionOfUser>[] = [
  {
    title: 'Agent',
    cell: (session) => <span title={session.user_agent ?? undefined}>{agentOf(session)}</span>,
    class: 'name',
  },
  { title: 'Source', cell: (session) => <span class="whole">{sourceOf(session)}</span> },
  { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
  { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
];

/** Ends one session of a user, or all but the one that asks. Those that have ended are no failure. */
const end = async (id: number, session?: string): Promise<void> => {
  const path = '/api/users/{id}/sessions';
  try {
    if (!session) return await send(api.DELETE(path, { params: { path: { id } } }));
    await send(api.DELETE(`${path}/{session}`, { params: { path: { id, session } } }));
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'SESSION_NOT_FOUND')) throw error;
  }
};

interface EndProps {
  /** The session to end; absent: all, or all others. */
  readonly session?: SessionOfUser | undefined;
  readonly title: string;
  readonly id: number;
  readonly close: () => void;
}

/** Asks before sessions end. */
const End = ({ session, title, id, close }: EndProps) => {
  const action = useAction(async () => {
    await end(id, session?.id);
    tell(session ? 'The session is ended.' : 'The sessions are ended.');
    close();
  });
  return (
    <Dialog title={title} close={close}>
      <Form action={action} failed="Nothing was ended" submit={title} isDangerous cancel={close}>
        <p>
          {session
            ? `${agentOf(session)} (${sourceOf(session)}) must sign in again.`
            : 'All of them must sign in again.'}
        </p>
      </Form>
    </Dialog>
  );
};

/** The sessions of a user, where there are any: each can be ended, and all others at once. */
export const Sessions = ({ id }: { id: number }) => {
  const { data, failure, isBusy, reload } = useLoad(`sessions ${id}`, async () =>
    settings.sessions
      ? (await send(api.GET('/api/users/{id}/sessions', { params: { path: { id } } }))).data
      : [],
  );
  const [asked, setAsked] = useState<Pick<EndProps, 'session' | 'title'>>();
  if (!settings.sessions) return null;
  const hasCurrent = data?.some(({ current }) => current);
  const all = hasCurrent ? 'End all others' : 'End all';
  const endButton = (session: SessionOfUser) =>
    session.current ? (
      <Badge kind="good">This one</Badge>
    ) : (
      <button
        type="button"
        class="small"
        onClick={() => setAsked({ session, title: 'End the session' })}
      >
        End
      </button>
    );
  return (
    <section class="part">
      <div class="title">
        <h2>Sessions</h2>
        {data?.some(({ current }) => !current) && (
          <button type="button" class="danger" onClick={() => setAsked({ title: all })}>
            {all}
          </button>
        )}
      </div>
      <FailureNotice what="The sessions could not be loaded" failure={failure} retry={reload} />
      {!data && isBusy && <Busy label="Loading sessions…" />}
      {data && (
        <Table
          caption="Sessions"
          columns={[...columns, { title: 'End', cell: endButton }]}
          rows={data}
          keyOf={(session) => session.id}
          empty="Nobody is signed in with this account."
        />
      )}
      {asked && (
        <End
          {...asked}
          id={id}
          close={() => {
            setAsked(undefined);
            reload();
          }}
        />
      )}
    </section>
  );
};
