import { randomUUID } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { functionsInForce } from '../../infra/uses.ts';
import { configFrom, hasMachines, hasSessions } from '../../lib/ground/settings.ts';
import { type Scope, scopes } from '../../lib/options/machines/machine.ts';
import { entriesOf, outcome, refusal, uniqueAgent } from './acceptance.ts';
import { type ApiClient, logIn, register } from './client.ts';
import { expectCommonHeaders } from './common-headers.ts';
import { entriesDue } from './entries-due.ts';
import {
  appoint,
  type Caller,
  type ExampleRequest,
  endpointsIn,
  exampleRequestsOf,
  prepareSubject,
  type Subject,
  sendExample,
} from './examples.ts';
import { makeMachine } from './machines.ts';
import { takenBy } from './permissions.ts';
import type { ProxiedService } from './proxied-service.ts';
import { faults } from './proxy.ts';
import { markVerified, registrationMailed } from './reset-tokens.ts';
import { engineClient } from './stored-items.ts';
import { claimsWith, now, signToken } from './tokens.ts';

/** Whether the tests see requests to the engine and the stored items, which is impossible for a deployed service. */
const isLocal = !process.env.SERVICE_URL;

/** The values of `caller` with which an endpoint refuses other users before it checks an id. */
const onlyAdmins: readonly Caller[] = ['self', 'admin'];

/** An id that no user has, and a path segment that is not an id. */
const badIds = ['9007199254740991', '%201'];

/** The paths of the reads that are recorded, so that their source counts. */
const recordedReads = ['/api/admin/audit-logs', '/api/admin/audit-seal/entries/{entry}'];

const unauthenticated = refusal(401, 'No token provided');
const forbidden = refusal(403, 'Forbidden');

type Refusals = Readonly<Partial<Record<Caller, ReturnType<typeof refusal>>>>;
const noToken: Refusals = {
  user: unauthenticated,
  maker: unauthenticated,
  self: unauthenticated,
  admin: unauthenticated,
  machine: unauthenticated,
};

/** The refusals that each caller gets from endpoints that are only for other callers. */
const refusals: Readonly<Record<Exclude<CallerName, 'an auditor' | 'a machine'>, Refusals>> = {
  'an anonymous caller': noToken,
  'another user': { maker: forbidden, self: forbidden, admin: forbidden, machine: forbidden },
  'the user': { admin: forbidden, machine: forbidden },
  'an admin': { machine: forbidden },
};
type CallerName =
  | 'an anonymous caller'
  | 'another user'
  | 'the user'
  | 'an admin'
  | 'an auditor'
  | 'a machine';

/** The details expected with AUDIT_DETAIL=full, under which entries also have values that the examples do not name. */
const someDetails = expect.toBeOneOf([null, expect.any(String)]);

/** The caller that each example is made for. */
const owners = {
  anyone: 'an anonymous caller',
  user: 'the user',
  maker: 'the user',
  self: 'the user',
  admin: 'an admin',
  machine: 'a machine',
} as const satisfies Record<Caller, CallerName>;

/**
 * Defines the tests that apply to every endpoint that a service has with its settings.
 * @param onlyOwners whether an example is tried only by its own caller: no setting changes how other callers are
 *   refused
 */
export const describeEveryEndpoint = async (
  { service, proxy }: ProxiedService,
  { onlyOwners = false } = {},
): Promise<void> => {
  const { adminToken, environment } = service;
  const api: ApiClient = async (method, path, options) => {
    const answer = await service.api(method, path, options);
    expectCommonHeaders(path, answer);
    return answer;
  };
  const settings = configFrom(environment);
  const requests = exampleRequestsOf(environment);
  const { USERS_TABLE: users = '', AUDIT_TABLE: audit = '' } = environment;

  /** Another user; in local runs, with a verified address. */
  const newOther = async (password?: string) => {
    const user = await register(api, password === undefined ? {} : { password });
    await registrationMailed(environment, user.id);
    if (isLocal) await markVerified(environment, user.id);
    return user;
  };
  const newAdmin = async (password: string): Promise<string> => {
    const admin = await newOther(password);
    const json = { role: 'admin' };
    await api('PUT', `/api/users/${admin.id}`, { token: adminToken, json });
    return logIn(api, admin);
  };
  const other = await newOther();
  const callers = Object.keys(refusals) as CallerName[];
  const newAuditor = async (password?: string) =>
    appoint(api, adminToken, await newOther(password));
  const auditor = hasSessions(settings) ? await newAuditor() : undefined;
  if (auditor) callers.push('an auditor');

  /** The token of a caller. Callers whom an example changes are created anew, with the account's password. */
  const tokenOf = async (caller: CallerName, { path }: ExampleRequest, subject: Subject) => {
    const changesOwn = /^\/api\/(logout|account-deletions|second-factor|identities|passkeys)/.test(
      path,
    );
    const { account, machineKey = null } = subject;
    const { password } = account;
    const tokens = {
      'an anonymous caller': () => null,
      'another user': async () => (changesOwn ? await newOther(password) : other).token,
      'the user': () => account.token,
      'an auditor': async () => (changesOwn ? await newAuditor(password) : auditor)?.token ?? null,
      'a machine': () => machineKey,
      'an admin': () => (changesOwn ? newAdmin(password) : adminToken),
    } satisfies Record<CallerName, unknown>;
    return tokens[caller]();
  };

  /** The indexes that the examples of a function queried, by its name. */
  const taken = new Map<string, Set<string>>();

  /** Notes the indexes that requests queried. */
  const noteLists = ({ name }: ExampleRequest['definition']): void => {
    const all = proxy.requests.flatMap(({ operation, content }) =>
      takenBy(operation, JSON.parse(content.slice(operation.length)), environment),
    );
    const lists = all.map(({ table, index }) => `${table}/${index}`);
    taken.set(name, new Set([...(taken.get(name) ?? []), ...lists]));
  };

  /**
   * The entries of an agent, without the entries of reads and of checks of the seal; in local runs, each with the id of
   * its request.
   */
  const keptEntries = async (agent: string): Promise<readonly Record<string, unknown>[]> => {
    // Of several queries of the trail, or several requests for a check of the seal, only the first leaves an entry.
    const entries = (await entriesOf(service, agent, isLocal ? { most: 1, limit: 10 } : {})).filter(
      ({ action, resource }) => action !== 'READ' && resource !== 'audit-seal',
    );
    if (!isLocal) return entries;
    const withRequests = entries.map(async (entry) => {
      const get = new GetCommand({ TableName: audit, Key: { id: entry.id }, ConsistentRead: true });
      const { Item } = await engineClient(inject('engine')).send(get);
      return { ...entry, request_id: Item?.request_id };
    });
    return Promise.all(withRequests);
  };

  /** Sends an example, and then ends the fault that was imposed on the engine, if any. */
  const send = async (example: ExampleRequest, subject: Subject, token: string | null) => {
    const agent = uniqueAgent();
    proxy.forget();
    const headers = { 'user-agent': agent };
    const sent = sendExample(api, example, subject, { token, headers });
    const response = await sent.finally(() => proxy.impose());
    noteLists(example.definition);
    return { response, entries: await keptEntries(agent) };
  };

  /** Sends an example while a table that it reads or writes fails. */
  const sendFailing = (example: ExampleRequest, subject: Subject, token: string | null) => {
    const table = example.operations.includes('read audit') ? audit : users;
    proxy.impose({ fault: faults.missingTable, table });
    return send(example, subject, token);
  };

  /** Expects the response and the entry that the example names. @param call the example, its subject, and its token */
  const expectSuccess = (
    [example, subject, token]: Parameters<typeof send>,
    { response, entries }: Awaited<ReturnType<typeof send>>,
  ): void => {
    expect(response.status).toBe(example.status);
    const due = entriesDue(example, subject, { token, response }).map((entry) => ({
      ...entry,
      ...(hasMachines(settings) && { machine_id: null, occurred_at: null }),
      ...(settings.auditDetail === 'full' ? { details: someDetails } : {}),
      ...(isLocal ? { request_id: response.headers.get('x-request-id') } : {}),
    }));
    expect(entries).toEqual(due);
  };

  /** The refusal that a caller gets for an example, if the caller is refused. */
  const refusalOf = (caller: CallerName, example: ExampleRequest) => {
    const { caller: may, isSuspended, isForAuditors } = example;
    // Users who are suspended have no session left.
    if (isSuspended && caller === 'the user') return refusal(401, 'Invalid token');
    if (caller === 'a machine') return undefined;
    if (caller !== 'an auditor') return refusals[caller][may];
    return isForAuditors ? undefined : refusals['another user'][may];
  };

  describe.each(requests)('$name', (example) => {
    const owner = owners[example.caller];
    const tried = onlyOwners ? [owner] : [...new Set([...callers, owner])];
    const needsTable = example.operations.length > 0;
    // Examples that send a mail are left out: the failed mail would be tried again during later requests.
    const needsNone = !needsTable && !example.definition.uses.has('mail');
    const ownerIf = (isTried: boolean) => (isLocal && isTried ? [owner] : []);
    const newSubject = () => prepareSubject(service, adminToken, example);
    /** Refused and failed requests do not change this subject, so that the owner's request finds it unchanged. */
    let unchanged: Subject;
    beforeAll(async () => {
      unchanged = await newSubject();
    });

    it.each(tried.filter((caller) => refusalOf(caller, example)))(
      'refuses %s, and records nothing',
      async (caller) => {
        const token = await tokenOf(caller, example, unchanged);

        const { response, entries } = await send(example, unchanged, token);

        expect([outcome(response), entries]).toEqual([refusalOf(caller, example), []]);
      },
    );

    it.each(ownerIf(needsTable))(
      'answers 500 to %s while its table fails, and records the failure',
      async (caller) => {
        const { storageFault: [message, field] = [], readsFirst, faultEntry } = example;
        const token = await tokenOf(caller, example, unchanged);

        const { response, entries } = await sendFailing(example, unchanged, token);

        const body = { message, [field ?? '']: 'ResourceNotFoundException' };
        expect(outcome(response)).toEqual([500, body]);
        expect(entries.map(({ action, result }) => `${action} ${result}`)).toEqual(
          faultEntry && !readsFirst ? [faultEntry] : [],
        );
      },
    );

    it.each(ownerIf(needsNone))('answers %s as usual while a table fails', async (caller) => {
      const subject = await newSubject();
      const token = await tokenOf(caller, example, subject);

      const sent = await sendFailing(example, subject, token);

      expectSuccess([example, subject, token], sent);
    });

    it.each(tried.filter((caller) => !refusalOf(caller, example)))(
      'answers %s as in its example, and records what it has done',
      async (caller) => {
        const subject = caller === owner ? unchanged : await newSubject();
        const token = await tokenOf(caller, example, subject);

        const sent = await send(example, subject, token);

        expectSuccess([example, subject, token], sent);
      },
    );
  });

  /** The key of a machine for each scope, which has that scope alone. */
  const keys = new Map<Scope, string>();
  const ofMachines = hasMachines(settings) && !onlyOwners;
  if (ofMachines) {
    for (const scope of scopes) {
      keys.set(scope, (await makeMachine(api, adminToken, [scope])).key);
    }
  }

  describe.each(ofMachines ? requests.filter(({ caller }) => caller !== 'anyone') : [])(
    '$name',
    (example) => {
      const { scope: own, entry, status } = example;
      const others = scopes.filter((scope) => scope !== own);

      it(`refuses machines with the scopes ${others.join(', ')}, and records nothing`, async () => {
        const subject = await prepareSubject(service, adminToken, example);
        for (const scope of others) {
          const { response, entries } = await send(example, subject, keys.get(scope) ?? null);

          expect([scope, outcome(response), entries]).toEqual([scope, forbidden, []]);
        }
      });

      it.each(own ? [own] : [])('answers a machine with the scope %s', async (scope) => {
        const subject = await prepareSubject(service, adminToken, example);

        const { response, entries } = await send(example, subject, keys.get(scope) ?? null);

        expect(response.status).toBe(status);
        const done = entries.map(({ action, result, user_id }) => [`${action} ${result}`, user_id]);
        expect(done).toEqual(entry ? [[entry, null]] : []);
      });
    },
  );

  describe.each(ofMachines ? endpointsIn(requests) : [])(
    '$name',
    ({ method, path, ...example }) => {
      const reads = ['GET', 'HEAD'].includes(method) && !recordedReads.includes(path);
      const counts =
        !reads &&
        !path.startsWith('/api/v1/') &&
        !['/api/login/nonces', '/api/login/passkey-options'].includes(path);

      it(`${counts ? 'refuses' : 'ignores'} a client address for which no machine vouches`, async () => {
        const headers = { 'machine-key': 'x', 'client-address': 'x' };
        const subject = { account: other, admin: adminToken, memoryId: 0 };
        const sent = { ...example, method, path };

        const answer = await sendExample(api, sent, subject, { headers, token: null });

        const refused = refusal(400, 'Invalid client address');
        if (counts) expect(outcome(answer)).toEqual(refused);
        else expect(outcome(answer)).not.toEqual(refused);
      });
    },
  );

  const ofUsers = endpointsIn(requests)
    // A caller whom an example refuses is refused before the user is looked up.
    .filter(({ path, status }) => path.includes('{id}') && status !== 403);
  describe.each(ofUsers)('$name', (example) => {
    const agent = uniqueAgent();

    it.each(badIds)(
      'answers 404 to the id %s, or 403 if it refuses the caller first',
      async (id) => {
        const subject = { account: other, admin: adminToken, memoryId: 0 };
        const send = (token: string) =>
          sendExample(api, example, subject, { token, id, headers: { 'user-agent': agent } });

        const answers = [await send(adminToken), await send(other.token)];

        const notFound = refusal(404, 'User not found');
        const toOther = onlyAdmins.includes(example.caller) ? forbidden : notFound;
        expect(answers.map(outcome)).toEqual([notFound, toOther]);
      },
    );

    it('has recorded nothing for these ids', async () => {
      expect(await entriesOf(service, agent)).toEqual([]);
    });
  });

  // Tokens that are valid tokens of an admin except for one flaw: an endpoint that accepts one would allow everything.
  const claims = claimsWith(decodeJwt(adminToken));
  const forged = signToken({ ...claims, iat: now(), exp: now() + 3600 }, randomUUID());
  const expired = signToken(
    { ...claims, iat: now() - 90_000, exp: now() - 3600 },
    service.jwtSecret,
  );
  const outOfDate = refusal(
    401,
    settings.tokenSigning === 'HS256' ? 'Token has expired' : 'Invalid token',
  );

  describe.each(endpointsIn(requests).filter(({ caller }) => caller !== 'anyone'))(
    '$name',
    (example) => {
      it('checks token and role before it checks id, parameters and body', async () => {
        const path = `${example.path.replace('{id}', 'x')}?limit=x&unknown=x`;
        const send = (token?: string) =>
          api(example.method, path, {
            ...(token ? { token } : {}),
            ...(example.json ? { body: '{', headers: { 'content-type': 'application/json' } } : {}),
          });

        expect(outcome(await send())).toEqual(unauthenticated);
        expect(outcome(await send(forged))).toEqual(refusal(401, 'Invalid token'));
        expect(outcome(await send(expired))).toEqual(outOfDate);
        // Whether the caller made a user can be known only if that user exists.
        if (refusals['another user'][example.caller] && example.caller !== 'maker') {
          expect(outcome(await send(other.token))).toEqual(forbidden);
        }
      });
    },
  );

  // Examples need not query every list if only their owners send them.
  if (onlyOwners) return;
  it('Each function queries each list that it may query', () => {
    const unused = functionsInForce(settings).flatMap(({ name, permissions }) =>
      permissions
        .flatMap(({ table, indexes = [] }) => indexes.map((index) => `${table}/${index}`))
        .filter((list) => isLocal && !taken.get(name)?.has(list))
        // The local service of tests does not seal its trail, and so compares no entry with it.
        .filter(() => name !== 'audit-seal-entry')
        .map((list) => `${name}: ${list}`),
    );

    expect(unused, 'uses in infra/uses.ts').toEqual([]);
  });
};
