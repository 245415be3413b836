import { useState } from 'preact/hooks';
import { NewUser } from '../components/new-user.tsx';
import { Screen } from '../components/screen.tsx';
import { UserFilters } from '../components/user-filters.tsx';
import { UserList } from '../components/user-list.tsx';
import { place } from '../router.ts';
import { isAdmin } from '../session.ts';
import { readUserQuery } from '../user-query.ts';

/** All users, the admins, or those who are found. */
export const Users = () => {
  const query = readUserQuery(place.use().query);
  const [isCreating, setCreating] = useState(false);
  const create = isAdmin() && (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      Create a user
    </button>
  );
  return (
    <Screen title="Users" actions={create}>
      <UserFilters {...query} />
      {/* Each query has a list of its own, of which nobody is selected. */}
      <UserList key={JSON.stringify(query)} query={query} />
      {isCreating && <NewUser close={() => setCreating(false)} />}
    </Screen>
  );
};
