import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import {
  type Caller,
  endpoints,
  exampleRequests,
  prepareSubject,
  sendExample,
} from '../support/examples.ts';
import { badIds } from '../support/ids.ts';

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
      const entries = await entriesOf(service, agent);
      expect(entries.map(({ action, result }) => `${action} ${result}`)).toEqual(
        refused || !example.entry ? [] : [example.entry],
      );
    },
  );
});

describe.each(endpoints.filter(({ path }) => path.includes('{id}')))('$name', (example) => {
  it.each(badIds)('answers 404 to the id %s', async (id) => {
    const subject = { account: other, admin: adminToken, memoryId: 0 };

    const response = await sendExample(api, example, subject, { token: adminToken, id });

    expect(outcome(response)).toEqual(refusal(404, 'User not found'));
  });
});
