import type { SessionOfUser } from '../../../client/paths.ts';
import { api, send, sendForList, sendUnless } from '../api.ts';
import { useLoad } from '../loading.ts';
import { readableAgent } from '../trail/agent.ts';
import { Button, RowButton } from './button.tsx';
import { openDialog } from './dialog.tsx';
import { FormDialog } from './form.tsx';
import { tell } from './notice.tsx';
import { Card } from './screen.tsx';
import { type Column, LoadedTable } from './table.tsx';
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
    isSaid: true,
    cell: (session, number) =>
      session.current ? (
        <Badge kind="good">This one</Badge>
      ) : (
        <RowButton
          title="End"
          of={`${number}, ${agentOf(session)}, ${sourceOf(session)}`}
          onClick={() => end(session)}
        />
      ),
  },
];

/** Ends one session of a user, or all except the caller's. A session that has already ended is no failure. */
export const endSessions = async (id: number, session?: string): Promise<void> => {
  const path = '/api/users/{id}/sessions';
  if (!session) return send(api.DELETE(path, { params: { path: { id } } }));
  const one = api.DELETE(`${path}/{session}`, { params: { path: { id, session } } });
  await sendUnless('SESSION_NOT_FOUND', one);
};

export const Sessions = ({ id }: { id: number }) => {
  const sessions = useLoad(`sessions ${id}`, () =>
    sendForList(api.GET('/api/users/{id}/sessions', { params: { path: { id } } })),
  );
  /** Asks before sessions end: one session, all sessions, or all other sessions. */
  const ask = (title: string, session?: SessionOfUser) => {
    const act = async () => {
      // A session whose end failed may have ended all the same.
      await endSessions(id, session?.id).finally(sessions.reload);
      tell(session ? 'The session is ended.' : 'The sessions are ended.');
    };
    openDialog(
      <FormDialog title={title} act={act} failed="Nothing was ended" isDangerous>
        <p>
          {session ? `${agentOf(session)} (${sourceOf(session)})` : 'All of them'} must sign in
          again.
        </p>
      </FormDialog>,
    );
  };
  const { data = [] } = sessions;
  const all = data.some(({ current }) => current) ? 'End all others' : 'End all';
  return (
    <Card
      title="Sessions"
      actions={
        data.some(({ current }) => !current) && (
          <Button class="small" onClick={() => ask(all)}>
            {all}
          </Button>
        )
      }
    >
      <LoadedTable
        caption="Sessions"
        columns={columnsFor((session) => ask('End the session', session))}
        from={sessions}
        keyOf={(session) => session.id}
        empty="Nobody is signed in with this account."
      />
    </Card>
  );
};
