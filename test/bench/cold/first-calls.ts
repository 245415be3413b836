import { gatewayEvent } from '../../support/event.ts';
import { endpoints, exampleEvent, type Subject } from '../../support/examples.ts';

const person = { name: 'Some One', password: 'a password' };
/** The users on whom the examples act: the caller, another user, and a user who is deleted. */
const people = [
  { ...person, id: 1, email: 'some@example.org' },
  { ...person, id: 2, email: 'other@example.org' },
  { ...person, id: 3, email: 'gone@example.org' },
] as const;
const others: Readonly<Record<string, 1 | 2>> = {
  'suspension-suspend': 1,
  'suspension-lift': 1,
  'users-remove': 2,
};

/**
 * The calls that create the users on whom {@link firstCall} acts, one after the other.
 * @param token the token of an administrator
 */
export const createPeople = (token: string) =>
  people.map((json) => gatewayEvent({ path: '/api/users', token, json }));

/**
 * The first request to a function: the example of its first route.
 * @param token the token of an administrator, who is the user with the id 1
 */
export const firstCall = (name: string, token: string) => {
  const example = endpoints.find(({ definition }) => definition.name === name);
  if (!example) throw new Error(`There is no function ${name}`);
  const account = { ...people[others[name] ?? 0], token };
  const subject: Subject = { account, admin: token, memoryId: 1 };
  return { example, event: exampleEvent(example, subject) };
};
