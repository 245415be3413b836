import { afterAll, describe, expect, inject, it } from 'vitest';
import { functionsInForce, mailFunction, type TablePermission } from '../../infra/uses.ts';
import { configFrom } from '../../lib/ground/settings.ts';
import { entriesOf, outcome, serviceForThisFile, uniqueAgent } from '../support/acceptance.ts';
import { everySetting } from '../support/every-setting.ts';
import {
  type ExampleRequest,
  exampleRequestsOf,
  prepareSubject,
  sendExample,
} from '../support/examples.ts';
import { type EngineRequest, faults, startProxy } from '../support/proxy.ts';
import { scan } from '../support/stored-items.ts';

const modes = [
  ['By default', {}],
  ['With the settings that are off by default', { ...everySetting, AUDIT_DETAIL: 'full' }],
] as const;

type TableName = TablePermission['table'];
type LogicalName = (table: string) => string;

const permissionTo = (action: string, table: string, index?: string) =>
  `${action} on ${table}${index ? `/${index}` : ''}`;

/** What a role must allow for a request to the engine; for a transaction, what its items need. */
const needed = (
  { operation, content }: EngineRequest,
  logicalName: LogicalName,
): readonly string[] => {
  const { TableName, IndexName, TransactItems, RequestItems } = JSON.parse(
    content.slice(operation.length),
  );
  if (TransactItems) {
    return TransactItems.flatMap((item: Record<string, { TableName: string }>) =>
      Object.entries(item).map(([kind, one]) =>
        permissionTo(`dynamodb:${kind}Item`, logicalName(one.TableName)),
      ),
    );
  }
  const names = TableName ? [TableName] : Object.keys(RequestItems);
  return names.map((name) => permissionTo(`dynamodb:${operation}`, logicalName(name), IndexName));
};

const allowed = (permissions: readonly TablePermission[]) =>
  permissions.flatMap(({ table, actions, indexes = [undefined] }) =>
    actions.flatMap((action) => indexes.map((index) => permissionTo(action, table, index))),
  );

describe.each(modes)('%s,', async (_, settings) => {
  const proxy = await startProxy(inject('engine'));
  afterAll(() => proxy.stop());
  const service = await serviceForThisFile({ ...settings, AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
  const { api, adminToken, environment } = service;
  const exampleRequests = exampleRequestsOf(environment);

  const tableNames: Readonly<Record<TableName, string | undefined>> = {
    users: environment.USERS_TABLE,
    audit: environment.AUDIT_TABLE,
  };
  const logicalName = (name: string) =>
    Object.entries(tableNames).find(([, real]) => real === name)?.[0] ?? name;

  /** What the examples of a function ask of the engine. */
  const askedBy = async (examples: readonly ExampleRequest[]): Promise<readonly string[]> => {
    const asked = new Set<string>();
    for (const example of examples) {
      const subject = await prepareSubject(service, adminToken, example);
      proxy.forget();
      const { status } = await sendExample(api, example, subject);
      expect([example.name, status]).toEqual([example.name, example.status]);
      for (const request of proxy.requests) {
        for (const one of needed(request, logicalName)) asked.add(one);
      }
    }
    return [...asked];
  };

  it.each(functionsInForce(configFrom(environment)))(
    'the function $name is allowed what its examples do, and they query each list that it may query',
    async ({ name, permissions, uses }) => {
      const own = exampleRequests.filter(({ definition }) => definition.name === name);

      const asked = await askedBy(own);

      const allowing = allowed(permissions);
      // What it hands over is mailed at the same time.
      const besides = allowed(
        (uses.has('mail') && mailFunction(configFrom(environment))?.permissions) || [],
      );
      const unused = permissions
        .filter((one) => one.indexes)
        .filter((one) => !allowed([one]).some((query) => asked.includes(query)));
      const where = `uses of ${name} in infra/uses.ts`;
      expect(
        asked.filter((one) => ![...allowing, ...besides].includes(one)),
        where,
      ).toEqual([]);
      expect(unused, where).toEqual([]);
    },
  );

  it.each(exampleRequests)(
    '$name responds as its example says when a table fails',
    async (example) => {
      const { operations, storageFault: [message, field] = [], status, readsFirst } = example;
      const subject = await prepareSubject(service, adminToken, example);
      const agent = uniqueAgent();
      const isAudit = operations.includes('read audit');

      const table = tableNames[isAudit ? 'audit' : 'users'] ?? '';
      proxy.impose({ fault: faults.missingTable, table });
      const response = await sendExample(api, example, subject, {
        headers: { 'user-agent': agent },
      });
      proxy.impose();

      if (operations.length === 0) expect(response.status).toBe(status);
      else {
        const body = { message, [field ?? '']: 'ResourceNotFoundException' };
        expect(outcome(response)).toEqual([500, body]);
      }
      const faultEntry = readsFirst ? undefined : example.faultEntry;
      const entries = await entriesOf(service, agent);
      expect(entries.map(({ action, result }) => `${action} ${result}`)).toEqual(
        faultEntry ? [faultEntry] : [],
      );
    },
  );

  const recording = exampleRequests.filter(({ entry }) => entry);
  it.each(recording)(
    '$name leaves an entry that is kept with its request’s id',
    async (example) => {
      const subject = await prepareSubject(service, adminToken, example);
      const agent = uniqueAgent();

      const { headers } = await sendExample(api, example, subject, {
        headers: { 'user-agent': agent },
      });

      const kept = await scan(inject('engine'), environment.AUDIT_TABLE ?? '');
      const own = kept.filter(({ user_agent }) => user_agent === agent);
      expect(own.map(({ request_id }) => request_id)).toEqual([headers.get('x-request-id')]);
    },
  );
});
