import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  type AcceptanceService,
  entriesOf,
  isoTimestamp,
  outcome,
  refusal,
  uniqueAgent,
} from './acceptance.ts';
import { type Account, type ApiAnswer, logIn, register } from './client.ts';
import {
  type Caller,
  type ExampleRequest,
  endpointsIn,
  exampleRequestsOf,
  prepareSubject,
  type Subject,
  sendExample,
  sessionIn,
} from './examples.ts';
import { idSeen, seenIn } from './model.ts';
import { markVerified } from './reset-tokens.ts';

/** The callers of endpoints that refuse other users before they look at an id. */
const onlyAdmins: readonly Caller[] = ['self', 'admin'];

/** An id that nobody has, and a path segment that is no id. */
const badIds = ['9007199254740991', '%201'];

const unauthenticated = refusal(401, 'No token provided');
const forbidden = refusal(403, 'Forbidden');

/** What each caller is refused with who may not do what some may. */
const refusals = {
  'nobody in particular': {
    anyone: undefined,
    user: unauthenticated,
    maker: unauthenticated,
    self: unauthenticated,
    admin: unauthenticated,
  },
  'another user': {
    anyone: undefined,
    user: undefined,
    maker: forbidden,
    self: forbidden,
    admin: forbidden,
  },
  'the user itself': {
    anyone: undefined,
    user: undefined,
    maker: undefined,
    self: undefined,
    admin: forbidden,
  },
  'an admin': {
    anyone: undefined,
    user: undefined,
    maker: undefined,
    self: undefined,
    admin: undefined,
  },
} as const satisfies Record<string, Record<Caller, ReturnType<typeof refusal> | undefined>>;
type CallerName = keyof typeof refusals;
const callers = Object.keys(refusals) as CallerName[];

const detailsDue = (details: object, account: Account, by: unknown): string =>
  JSON.stringify(details)
    .replace('SESSION', sessionIn(account))
    .replace('SCOPE', by === account.id ? 'others' : 'all');

/** What a response to an example must leave in the audit trail: who did what with which user. */
const entriesDue = (
  { entry, details, caller, path, definition }: ExampleRequest,
  { account }: Subject,
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
      ip_address: expect.any(String),
      user_agent: expect.any(String),
      created_at: isoTimestamp,
    },
  ];
};

/** What holds for every endpoint that a service has by its settings. */
export const describeEveryEndpoint = async (service: AcceptanceService): Promise<void> => {
  const { api, adminToken } = service;
  const other = await register(api);
  const requests = exampleRequestsOf(service.environment);

  /** Another user, whose address is verified. */
  const newOther = async (password: string) => {
    const user = await register(api, { password });
    await markVerified(service.environment, user.id);
    return user;
  };
  const newAdmin = async (password: string): Promise<string> => {
    const admin = await newOther(password);
    const json = { role: 'admin' };
    await api('PUT', `/api/users/${admin.id}`, { token: adminToken, json });
    return logIn(api, admin);
  };

  /** The callers' tokens; callers whom an example changes, and who have its password, are made for it. */
  const tokensFor = async ({ path }: ExampleRequest, { account }: Subject) => {
    const changesOwn = /^\/api\/(logout|account-deletions|second-factor|identities)/.test(path);
    const { password } = account;
    return {
      'nobody in particular': null,
      'another user': changesOwn ? (await newOther(password)).token : other.token,
      'the user itself': account.token,
      'an admin': changesOwn ? await newAdmin(password) : adminToken,
    } satisfies Record<CallerName, string | null>;
  };

  describe.each(requests)('$name', (example) => {
    it.each(callers)(
      'answers or refuses %s as its example says, and records what it did',
      async (caller) => {
        const subject = await prepareSubject(service, adminToken, example);
        const tokens = await tokensFor(example, subject);
        const agent = uniqueAgent();
        // Users who are suspended have no session left.
        const isOut = example.isSuspended && caller === 'the user itself';
        const refused = isOut ? refusal(401, 'Invalid token') : refusals[caller][example.caller];

        const response = await sendExample(api, example, subject, {
          token: tokens[caller],
          headers: { 'user-agent': agent },
        });

        if (refused) expect(outcome(response)).toEqual(refused);
        else expect(response.status).toBe(example.status);
        const token = tokens[caller];
        const due = refused ? [] : entriesDue(example, subject, { token, response });
        const entries = await entriesOf(service, agent);
        // Of several requests for a check of the seal, the first alone leaves an entry.
        expect(entries.filter(({ resource }) => resource !== 'audit-seal')).toEqual(due);
      },
    );
  });

  const ofUsers = endpointsIn(requests)
    // An example that is refused is refused before a user is looked for.
    .filter(({ path, status }) => path.includes('{id}') && status !== 403);
  describe.each(ofUsers)('$name', (example) => {
    const agent = uniqueAgent();

    it.each(badIds)('answers 404 to the id %s', async (id) => {
      const subject = { account: other, admin: adminToken, memoryId: 0 };

      for (const token of onlyAdmins.includes(example.caller)
        ? [adminToken]
        : [adminToken, other.token]) {
        const response = await sendExample(api, example, subject, {
          token,
          id,
          headers: { 'user-agent': agent },
        });

        expect(outcome(response)).toEqual(refusal(404, 'User not found'));
      }
    });

    it('has recorded nothing for any of them', async () => {
      expect(await entriesOf(service, agent)).toEqual([]);
    });
  });

  describe.each(endpointsIn(requests).filter(({ caller }) => caller !== 'anyone'))(
    '$name',
    (example) => {
      it('looks at token and role before it looks at id, parameters and body', async () => {
        const path = `${example.path.replace('{id}', 'x')}?limit=x&unknown=x`;
        const send = (token?: string) =>
          api(example.method, path, {
            ...(token ? { token } : {}),
            ...(example.json ? { body: '{', headers: { 'content-type': 'application/json' } } : {}),
          });

        expect(outcome(await send())).toEqual(unauthenticated);
        // Whether a caller made the user of an id is known only once there is a user.
        if (refusals['another user'][example.caller] && example.caller !== 'maker') {
          expect(outcome(await send(other.token))).toEqual(forbidden);
        }
      });
    },
  );
};
