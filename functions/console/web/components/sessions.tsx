import { useState } from 'preact/hooks';
import { api, Failure, send, settings } from '../api.ts';
import type { SessionOfUser } from '../contract.d.ts';
import { useLoad } from '../loading.ts';
import { readableAgent } from '../trail/agent.ts';
import { FormDialog } from './form.tsx';
import { Loaded, tell } from './notice.tsx';
import { type Column, Table } from './table.tsx';
import { Badge, Time, Whole } from './text.tsx';

const agentOf = ({ user_agent: agent }: SessionOfUser) => readableAgent(agent ?? 'Unknown');
const sourceOf = ({ ip_address: source }: SessionOfUser) => source ?? 'unknown';

const columnsFor = (end: (session: SessionOfUser) => void): readonly Column<SessionOfUser>[] => [
  {
    title: 'Agent',
    cell: (session) => <span title={session.user_agent ?? undefined}>{agentOf(session)}</span>,
    class: 'name',
  },
  { title: 'Source', cell: (session) => <Whole text={sourceOf(session)} /> },
  { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
  { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
  {
    title: 'End',
    cell: (session) =>
      session.current ? (
        <Badge kind="good">This one</Badge>
      ) : (
        <button type="button" class="small" onClick={() => end(session)}>
          End
        </button>
      ),
  },
];

/** Ends one session of a user, or all but the one that asks. Those that have ended are no failure. */
const end = async (id: number, session: string | undefined): Promise<void> => {
  const path = '/api/users/{id}/sessions';
  try {
    if (!session) return await send(api.DELETE(path, { params: { path: { id } } }));
    await send(api.DELETE(`${path}/{session}`, { params: { path: { id, session } } }));
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'SESSION_NOT_FOUND')) throw error;
  }
};

interface EndProps {
  readonly id: number;
  readonly title: string;
  /** The session to end; absent: all, or all others. */
  readonly session?: SessionOfUser;
  readonly close: () => void;
}

/** Asks before sessions end. */
const End = ({ session, title, id, close }: EndProps) => {
  const act = async () => {
    await end(id, session?.id);
    tell(session ? 'The session is ended.' : 'The sessions are ended.');
  };
  return (
    <FormDialog title={title} act={act} failed="Nothing was ended" isDangerous close={close}>
      <p>
        {session ? `${agentOf(session)} (${sourceOf(session)})` : 'All of them'} must sign in again.
      </p>
    </FormDialog>
  );
};

const SessionsOf = ({ id }: { id: number }) => {
  const sessions = useLoad(
    `sessions ${id}`,
    async () =>
      (await send(api.GET('/api/users/{id}/sessions', { params: { path: { id } } }))).data,
  );
  const [asked, setAsked] = useState<Pick<EndProps, 'session' | 'title'>>();
  const { data = [] } = sessions;
  const all = data.some(({ current }) => current) ? 'End all others' : 'End all';
  const close = () => {
    setAsked(undefined);
    sessions.reload();
  };
  return (
    <section class="stack">
      <div class="row apart">
        <h2>Sessions</h2>
        {data.some(({ current }) => !current) && (
          <button type="button" class="danger" onClick={() => setAsked({ title: all })}>
            {all}
          </button>
        )}
      </div>
      <Loaded what="The sessions" from={sessions}>
        {(rows) => (
          <Table
            caption="Sessions"
            columns={columnsFor((session) => setAsked({ session, title: 'End the session' }))}
            rows={rows}
            keyOf={(session) => session.id}
            empty="Nobody is signed in with this account."
          />
        )}
      </Loaded>
      {asked && <End {...asked} id={id} close={close} />}
    </section>
  );
};

/** The sessions of a user, where there are any: each can be ended, and all others at once. */
export const Sessions = (props: { id: number }) => settings.sessions && <SessionsOf {...props} />;
