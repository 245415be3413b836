/** Finds the user whom the text in a filter means. */

import type { AuditEntry } from '../../../client/paths.ts';
import { ConsoleError, settings } from '../api.ts';
import { everybody, readUsers } from '../user-query.ts';
import { detailsOf } from './happened.ts';
import type { Known } from './known-users.ts';
import { none, readState } from './query.ts';
import { readAll } from './read.ts';

/** The text may mean any of several users; one of them must be chosen. */
export class Several extends Error {
  readonly field: string;
  readonly people: readonly Known[];

  constructor(field: string, people: readonly Known[]) {
    super();
    this.field = field;
    this.people = people;
  }
}

const mostOffered = 10;

const fold = (text: unknown): string => String(text).normalize().toLowerCase();

/** Deleted users, if the trail has their names. */
const findDeleted = async (sought: string): Promise<readonly Known[]> => {
  if (settings.auditDetail !== 'full') return [];
  const { data } = await readAll(readState({ action: 'DELETE', result: 'SUCCESS' }));
  const knownOf = ({ resource_id, ...entry }: AuditEntry) => {
    const { name, email } = detailsOf(entry);
    return { id: resource_id ?? '', name: String(name), email: String(email), isDeleted: true };
  };
  return data
    .map(knownOf)
    .filter(({ name, email }) => [name, email].some((each) => fold(each).includes(fold(sought))));
};

/** Users who are stored. A search reads on until a page has a user, because pages may be empty. */
const findStored = async (sought: string): Promise<readonly Known[]> => {
  const query = { ...everybody, q: sought };
  let page = await readUsers(query);
  while (page.data.length === 0 && page.next) page = await readUsers(query, page.next);
  return page.data;
};

/**
 * The id of the user whom a text means: an id, an address, a name, or a part of an address or a name.
 * @throws {Several} if it means several users @throws {ConsoleError} if it means nobody
 */
export const findId = async (field: string, text: string): Promise<string> => {
  const sought = text.trim().replace(/^#(?=\d)/, '');
  if (/^\d*$/.test(sought) || sought === none) return sought;
  const people = [...(await findStored(sought)), ...(await findDeleted(sought))];
  if (people.length > 1) throw new Several(field, people.slice(0, mostOffered));
  if (people[0]) return String(people[0].id);
  const unkept = 'The trail does not keep the names of those who are deleted: type the id.';
  throw new ConsoleError(
    `No user has ${sought} in the name or the address.${settings.auditDetail === 'full' ? '' : ` ${unkept}`}`,
  );
};
