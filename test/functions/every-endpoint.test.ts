import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  isoTimestamp,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../support/acceptance.ts';
import { type ApiAnswer, register } from '../support/client.ts';
import {
  type Caller,
  type ExampleRequest,
  endpoints,
  exampleRequests,
  prepareSubject,
  type Subject,
  sendExample,
} from '../support/examples.ts';
import { badIds, unknownId } from '../support/ids.ts';
import { idSeen, seenIn } from '../support/model.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const other = await register(api);

const unauthenticated = refusal(401, 'No token provided');
const forbidden = refusal(403, 'Forbidden');

/** What each caller is refused with who may not do what some may. */
const refusals = {
  'nobody in particular': {
    anyone: undefined,
    user: unauthenticated,
    self: unauthenticated,
    admin: unauthenticated,
  },
  'another user': { anyone: undefined, user: undefined, self: forbidden, admin: forbidden },
  'the user itself': { anyone: undefined, user: undefined, self: undefined, admin: forbidden },
  'an admin': { anyone: undefined, user: undefined, self: undefined, admin: undefined },
} as const satisfies Record<string, Record<Caller, ReturnType<typeof refusal> | undefined>>;
type CallerName = keyof typeof refusals;
const callers = Object.keys(refusals) as CallerName[];

/** What a response to an example must leave in the audit trail: who did what with which user. */
const entriesDue = (
  { entry, details, caller, path, definition }: ExampleRequest,
  { account }: Subject,
  { token, response }: { token: string | null; response: ApiAnswer },
) => {
  if (!entry || definition.inMemory) return [];
  const [action, result] = entry.split(' ');
  const id = path.includes('{id}') ? account.id : idSeen(seenIn(response)) || account.id;
  const ofUser = {
    ...{ resource: 'users', resource_id: String(id) },
    details: details ? JSON.stringify(details) : null,
  };
  const ofExport = {
    ...{ resource: 'audit-logs', resource_id: null },
    details: expect.stringContaining('"entries":'),
  };
  return [
    {
      id: expect.any(Number),
      user_id: caller === 'anyone' ? id : decodeJwt(token ?? '').id,
      ...{ action, result },
      ...(action === 'EXPORT' ? ofExport : ofUser),
      ip_address: expect.any(String),
      user_agent: expect.any(String),
      created_at: isoTimestamp,
    },
  ];
};

describe.each(exampleRequests)('$name', (example) => {
  it.each(callers)(
    'answers or refuses %s as its example says, and records what it did',
    async (caller) => {
      const subject = await prepareSubject(api, adminToken, example);
      const tokens: Record<CallerName, string | null> = {
        'nobody in particular': null,
        'another user': other.token,
        'the user itself': subject.account.token,
        'an admin': adminToken,
      };
      const agent = uniqueAgent();
      const refused = refusals[caller][example.caller];

      const response = await sendExample(api, example, subject, {
        token: tokens[caller],
        headers: { 'user-agent': agent },
      });

      if (refused) expect(outcome(response)).toEqual(refused);
      else expect(response.status).toBe(example.status);
      const token = tokens[caller];
      const due = refused ? [] : entriesDue(example, subject, { token, response });
      expect(await entriesOf(service, agent)).toEqual(due);
    },
  );
});

describe.each(endpoints.filter(({ path }) => path.includes('{id}')))('$name', (example) => {
  const agent = uniqueAgent();

  it.each([unknownId, ...badIds])('answers 404 to the id %s', async (id) => {
    const subject = { account: other, admin: adminToken, memoryId: 0 };

    const response = await sendExample(api, example, subject, {
      ...{ token: adminToken, id },
      headers: { 'user-agent': agent },
    });

    expect(outcome(response)).toEqual(refusal(404, 'User not found'));
  });

  it('has recorded nothing for any of them', async () => {
    expect(await entriesOf(service, agent)).toEqual([]);
  });
});

describe.each(endpoints.filter(({ caller }) => caller !== 'anyone'))('$name', (example) => {
  it('looks at token and role before it looks at id, parameters and body', async () => {
    const path = `${example.path.replace('{id}', 'x')}?limit=x&unknown=x`;
    const send = (token?: string) =>
      api(example.method, path, {
        ...(token ? { token } : {}),
        ...(example.json ? { body: '{', headers: { 'content-type': 'application/json' } } : {}),
      });

    expect(outcome(await send())).toEqual(unauthenticated);
    if (refusals['another user'][example.caller]) {
      expect(outcome(await send(other.token))).toEqual(forbidden);
    }
  });
});
