/** Compares the users in sealed entries with the users in a table that was restored from a backup. */
import type { Item } from '../../lib/seal/line.ts';
import { getItems, userKey } from '../../lib/users/item.ts';

export function sealedUsers() {
  const [known, deleted] = [new Set<number>(), new Set<number>()];
  let last = 0;
  return {
    see: (item: Item): void => {
      const { action, result } = item;
      const about = subjectOf(item);
      const isDone = result === 'SUCCESS';
      const certain = [item.user_id, isDone ? about : undefined].filter(isId);
      for (const id of certain) known.add(id);
      if (isId(about) && isDone && action === 'DELETE') deleted.add(about);
      // An entry whose outcome is unknown may be about a user who was created.
      const allocated = action === 'CREATE' ? [...certain, about] : certain;
      last = Math.max(last, ...allocated.filter(isId));
    },
    /** The greatest id of a user; 0 if there are no users. */
    last: () => last,
    /**
     * Looks up the users.
     * @returns the users who are missing from the table, and the users who should not be in it
     * @throws {DomainError} STORAGE_FAULT
     */
    compare: async () => {
      const ids = [...known].sort((one, other) => one - other);
      const there = new Set(await presentOf(ids));
      return {
        missing: ids.filter((id) => !there.has(id) && !deleted.has(id)),
        back: ids.filter((id) => there.has(id) && deleted.has(id)),
      };
    },
  };
}

function subjectOf({ resource, resource_id }: Item): number | undefined {
  return resource === 'users' && typeof resource_id === 'string' ? Number(resource_id) : undefined;
}

function isId(id: unknown): id is number {
  return Number.isSafeInteger(id) && Number(id) > 0;
}

/** The number of users that one request reads. */
const batchSize = 100;

async function presentOf(ids: readonly number[]): Promise<readonly number[]> {
  const present: number[] = [];
  for (let at = 0; at < ids.length; at += batchSize) {
    const batch = ids.slice(at, at + batchSize);
    const items = await getItems(batch.map(userKey));
    present.push(...batch.filter((_, i) => items[i]));
  }
  return present;
}
