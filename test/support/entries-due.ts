/** The entries that a response to an example must leave in the audit trail. */
import { decodeJwt } from 'jose';
import { expect } from 'vitest';
import { isoTimestamp } from './acceptance.ts';
import type { Account, ApiAnswer } from './client.ts';
import { type ExampleRequest, type Subject, sessionIn } from './examples.ts';
import { idSeen, seenIn } from './model.ts';

const detailsDue = (details: object, account: Account, by: unknown): string =>
  JSON.stringify(details)
    .replace('SESSION', sessionIn(account))
    .replace('SCOPE', by === account.id ? 'others' : 'all');

/** The machine that an entry names. @param id absent: the response has it */
const thingDue = (id: number | undefined, { body }: ApiAnswer) => ({
  resource: 'machines',
  resource_id: `machine-${id ?? body?.id}`,
});

/** @returns the entries, each with the caller, the action, the user whom it is about, and the source */
export const entriesDue = (
  { entry, details, caller, path, definition }: ExampleRequest,
  { account, machineId }: Subject,
  { token, response }: { token: string | null; response: ApiAnswer },
) => {
  if (!entry || definition.uses.has('memory')) return [];
  const [action, result] = entry.split(' ');
  const by = caller === 'anyone' ? account.id : decodeJwt(token ?? '').id;
  const id = path.includes('{id}') ? account.id : idSeen(seenIn(response)) || by;
  const ofUser = {
    resource: 'users',
    resource_id: String(id),
    details: details ? detailsDue(details, account, by) : null,
  };
  const ofExport = {
    resource: 'audit-logs',
    resource_id: null,
    details: expect.stringContaining('"entries":'),
  };
  return [
    {
      id: expect.any(Number),
      user_id: caller === 'anyone' ? id : by,
      action,
      result,
      ...(action === 'EXPORT' ? ofExport : ofUser),
      ...(path.startsWith('/api/machines') ? thingDue(machineId, response) : {}),
      ip_address: expect.any(String),
      user_agent: expect.any(String),
      created_at: isoTimestamp,
    },
  ];
};
