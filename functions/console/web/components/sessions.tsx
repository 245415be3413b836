import { api, Failure, send, settings } from '../api.ts';
import type { SessionOfUser } from '../contract.d.ts';
import { useAction, useLoad } from '../loading.ts';
import { readableAgent } from '../trail/agent.ts';
import { Busy, FailureNotice, tell } from './notice.tsx';
import { type Column, Table } from './table.tsx';
import { Badge, Time } from './text.tsx';

const columns: readonly Column<SessionOfUser>[] = [
  {
    title: 'Agent',
    cell: ({ user_agent: agent }) => (
      <span title={agent ?? undefined}>{readableAgent(agent ?? 'Unknown')}</span>
    ),
  },
  { title: 'Source', cell: ({ ip_address }) => ip_address ?? 'unknown' },
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

/** The sessions of a user, where there are any: each can be ended, and all others at once. */
export const Sessions = ({ id }: { id: number }) => {
  const { data, failure, isBusy, reload } = useLoad(`sessions ${id}`, async () =>
    settings.sessions === 'revocable'
      ? (await send(api.GET('/api/users/{id}/sessions', { params: { path: { id } } }))).data
      : [],
  );
  const ending = useAction(async (session?: string) => {
    await end(id, session);
    tell(session ? 'The session is ended.' : 'The sessions are ended.');
    reload();
  });
  if (settings.sessions === 'stateless') return null;
  const endButton = ({ id: session, current }: SessionOfUser) =>
    current ? (
      <Badge kind="good">This one</Badge>
    ) : (
      <button type="button" class="small" onClick={() => ending.run(session)}>
        End
      </button>
    );
  return (
    <section class="part">
      <div class="title">
        <h2>Sessions</h2>
        {data?.some(({ current }) => !current) && (
          <button
            type="button"
            class="danger"
            aria-busy={ending.isBusy}
            onClick={() => ending.run()}
          >
            {data.some(({ current }) => current) ? 'End all others' : 'End all'}
          </button>
        )}
      </div>
      <FailureNotice what="The session was not ended" failure={ending.failure} />
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
    </section>
  );
};
