import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AuditEntry, UserDetails } from '../../../client/paths.ts';
import { settings } from '../api.ts';
import { Entries } from '../components/entries.tsx';
import { Loaded } from '../components/notice.tsx';
import { Person } from '../components/person.tsx';
import {
  isOwn,
  mayChange,
  ProfileForm,
  UserFacts,
  type UserProps,
  UserStates,
  useUser,
} from '../components/profile.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { type Column, Table } from '../components/table.tsx';
import { Time, Whole } from '../components/text.tsx';
import { UserName } from '../components/user-name.tsx';
import { exactTime, timeOf } from '../format.ts';
import { href } from '../router.ts';
import { now } from '../service.ts';
import { isAdmin } from '../session.ts';
import { detailsOf } from '../trail/happened.ts';
import { askFor, forgetUsers, knownOf } from '../trail/known-users.ts';
import { readState } from '../trail/query.ts';
import { type StandingSpan, standingsOf } from '../trail/standing.ts';
import { useWhole } from '../trail/whole.ts';
import { Access, Attributes, Help, Identities, Passkeys, Sessions } from './on-demand.tsx';

const shown = 10;

const standingColumns: readonly Column<StandingSpan>[] = [
  { title: 'From', cell: ({ from }) => (from ? <Time at={from} /> : 'before the trail') },
  { title: 'Until', cell: ({ until }) => (until ? <Time at={until} /> : 'now') },
  {
    title: 'Role',
    cell: ({ values: { role = 'unknown', auditor } }) => (
      <span>
        {String(role)}
        {auditor === true && ', auditor'}
      </span>
    ),
  },
  ...(settings.auditDetail === 'full'
    ? [
        {
          title: 'Address',
          cell: ({ values: { email = 'unknown' } }: StandingSpan) => <Whole text={String(email)} />,
        },
      ]
    : []),
  { title: 'By', cell: ({ by }) => <UserName id={by} />, class: 'name' },
];

/** The user's roles over time, the newest entries by or about the user, and a link to all of them. */
const History = ({ id, user }: { id: number; user: UserDetails | undefined }) => {
  const query = { about: String(id) };
  const whole = useWhole(readState(query));
  const wait = waitOf(id, whole.data);
  return (
    <div class="trail stack">
      <Card title="Role over time">
        <Loaded what="The entries" from={whole}>
          {(entries) => (
            <Table
              caption="What the user was, newest first"
              columns={standingColumns}
              rows={standingsOf(id, entries, user)}
              keyOf={({ until }) => until}
              empty="The trail has no entry that says so."
            />
          )}
        </Loaded>
      </Card>
      {whole.data && (
        <Card title="What happened" actions={<a href={href('/audit', query)}>All entries</a>}>
          {wait && (
            <p class="notice">
              The last failed login began a wait of the account or of its source: until{' '}
              <Time at={wait} write={exactTime} /> logins are refused.
            </p>
          )}
          <Entries
            pages={whole.data.slice(0, shown)}
            about={String(id)}
            caption="What this user did, and what was done to this user"
            empty="Nothing yet."
          />
        </Card>
      )}
    </div>
  );
};

/** The end of the wait that the newest login of the user began, if it is not over. */
const waitOf = (id: number, entries: readonly AuditEntry[] = []): string | undefined => {
  const login = entries.find(
    ({ action, resource_id: whom }) => action === 'LOGIN' && whom === String(id),
  );
  const end = login && String(detailsOf(login).waits_until);
  return end && timeOf(end) > now() ? end : undefined;
};

interface DetailsProps extends UserProps {
  /** Counts the changes, after which sessions are loaded again. */
  readonly changes: number;
  /** The part beside the profile. */
  readonly children: ComponentChildren;
}

/** All that may be changed of a user, by the user or by an admin; of it, auditors see what shows a state. */
export const Details = ({ user, changed, changes, children }: DetailsProps) => {
  const props = { user, changed };
  return (
    <>
      <UserStates user={user} />
      <div class="halves">
        {mayChange(user) && (
          <div class="stack">
            <Card title="Profile">
              <ProfileForm {...props} />
            </Card>
            {isAdmin() && !isOwn(user) && <Help {...props} />}
          </div>
        )}
        {children}
      </div>
      <Attributes {...props} />
      {/* One's own tables have too many columns to stand beside each other. */}
      <div class={isOwn(user) ? 'stack' : 'halves'}>
        <Identities {...props} />
        <Passkeys {...props} />
      </div>
      {mayChange(user) && <Sessions key={changes} id={user.id} />}
    </>
  );
};

/** Auditors see others without actions and sessions. */
export const User = ({ id }: { id: number }) => {
  const { changes, changed, ...loaded } = useUser(id);
  const isMissing = loaded.failure?.status === 404;
  const known = knownOf(String(id)).use();
  const { name = '' } = known;
  useEffect(() => forgetUsers, []);
  useEffect(() => {
    if (isMissing) void askFor(id);
  }, [isMissing]);
  const { isDeleted, isUnknown } = isMissing ? known : {};
  return (
    <Screen
      title={`#${id} ${name}${isDeleted ? ' (deleted)' : ''}${isUnknown ? ' (unknown)' : ''}`}
      heading={<Person user={known} />}
      actions={!isMissing && loaded.data && <UserFacts user={loaded.data} />}
    >
      {isMissing ? (
        <p class="empty">
          No user has the id {id}
          {isUnknown ? ', and the trail knows of none.' : ' now. The trail says what was.'}
        </p>
      ) : (
        <Loaded what="The user" from={loaded}>
          {(user) => (
            <Details user={user} changed={changed} changes={changes}>
              <Access user={user} changed={changed} />
            </Details>
          )}
        </Loaded>
      )}
      {/* While the user cannot be loaded, a single message is enough. */}
      {(loaded.data || (isMissing && !isUnknown)) && (
        <History key={changes} id={id} user={loaded.data} />
      )}
    </Screen>
  );
};
