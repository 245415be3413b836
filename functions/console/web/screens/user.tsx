import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AuditEntry, UserDetails } from '../../../client/paths.ts';
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
import { Time } from '../components/text.tsx';
import { exactTime, grouped, timeOf } from '../format.ts';
import { href } from '../router.ts';
import { now } from '../service.ts';
import { isAdmin } from '../session.ts';
import { detailsOf } from '../trail/happened.ts';
import { askFor, forgetUsers, type Known, knownOf } from '../trail/known-users.ts';
import { readState } from '../trail/query.ts';
import { useWhole } from '../trail/whole.ts';
import {
  Access,
  Attributes,
  Help,
  Identities,
  Passkeys,
  Sessions,
  Standings,
} from './on-demand.tsx';

const shown = 10;

interface TrailProps {
  readonly id: number;
  readonly user: UserDetails | undefined;
  /** Counts the changes, after which the trail is read again. */
  readonly changes: number;
  /** The part beside the newest entries. */
  readonly children?: ComponentChildren;
}

/** The newest entries by or about the user, a link to all of them, and what the user was over time. */
const Trail = ({ id, user, changes, children }: TrailProps) => {
  const query = { about: String(id) };
  const whole = useWhole(readState(query));
  const { data, isBusy, isFull, failure } = whole;
  const isAll = data && data.length > 1 && !isBusy && !isFull && !failure;
  useEffect(() => {
    if (changes > 0) void whole.reload();
  }, [changes]);
  return (
    <div class="trail stack">
      <div class="halves">
        <Card
          title="What happened"
          actions={
            <a href={href('/audit', query)}>All {isAll && `${grouped(data.length)} `}entries</a>
          }
        >
          <Loaded what="The entries" from={whole}>
            {(entries) => (
              <>
                <Wait of={waitOf(id, entries)} />
                <Entries
                  pages={entries.slice(0, shown)}
                  about={String(id)}
                  caption="What this user did, and what was done to this user"
                  empty="Nothing yet."
                />
              </>
            )}
          </Loaded>
        </Card>
        {children}
      </div>
      {data && <Standings id={id} entries={data} user={user} />}
    </div>
  );
};

/** @param of its end */
const Wait = ({ of: end }: { of: string | undefined }) => {
  const time = end && <Time at={end} write={exactTime} />;
  if (!time) return null;
  return timeOf(end) > now() ? (
    <p class="notice">
      The last failed login began a wait of the account or of its source: until {time} logins are
      refused.
    </p>
  ) : (
    <p class="muted">The last wait of logins ended at {time}.</p>
  );
};

/** The end of the wait that the newest login of the user began. */
const waitOf = (id: number, entries: readonly AuditEntry[]): string | undefined => {
  const login = entries.find(
    ({ action, resource_id: whom }) => action === 'LOGIN' && whom === String(id),
  );
  const end = login && String(detailsOf(login).waits_until);
  return end && timeOf(end) ? end : undefined;
};

interface DetailsProps extends UserProps {
  /** Counts the changes, after which sessions are loaded again. */
  readonly changes: number;
  /** The part beside one's own profile. */
  readonly children?: ComponentChildren;
}

/** All that may be changed of a user, by the user or by an admin; of it, auditors see what shows a state. */
export const Details = ({ user, changed, changes, children }: DetailsProps) => {
  const props = { user, changed };
  return (
    <>
      <div class="halves">
        {mayChange(user) && (
          <Card title="Profile">
            <ProfileForm {...props} />
          </Card>
        )}
        {isAdmin() && !isOwn(user) && <Help {...props} />}
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

/** Nobody has the id now. */
const Missing = ({ id, known }: { readonly id: number; readonly known: Known }) => (
  <p class="empty">
    {known.isDeleted
      ? 'This user was deleted. The trail below says what happened.'
      : `No user has the id ${id}${known.isUnknown ? ', and the trail knows of none' : ''}.`}
  </p>
);

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
        <Missing id={id} known={known} />
      ) : (
        <Loaded what="The user" from={loaded}>
          {(user) => (
            <>
              <UserStates user={user} />
              <Trail id={id} user={user} changes={changes}>
                <Access user={user} changed={changed} />
              </Trail>
              <Details user={user} changed={changed} changes={changes} />
            </>
          )}
        </Loaded>
      )}
      {isMissing && !isUnknown && <Trail id={id} user={undefined} changes={changes} />}
    </Screen>
  );
};
