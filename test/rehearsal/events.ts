/** Makes rules of the bus put failed logins, and tampering with entries, into queues. */
import type { Account } from '../support/client.ts';
import type { Deployment } from './deployment.ts';
import { follow, linesWith } from './runbook.ts';
import { requireThat } from './step.ts';
import { resourcesOf, type Template } from './template.ts';

/** In AWS the API of EventBridge has a host of its own; here the host is the emulator. */
export const putEventsAt =
  (endpoint: string) =>
  (template: Template): Template => {
    for (const [, { Properties }] of resourcesOf(template, 'AWS::Lambda::Function')) {
      const { Variables } = (Properties.Environment ?? {}) as {
        Variables?: { EVENTS_URL?: unknown };
      };
      if (Variables?.EVENTS_URL) Variables.EVENTS_URL = endpoint;
    }
    return template;
  };

/** The name of a queue and its rule in infra/runbooks.md; in a proving run the name contains the id of the run. */
const nameAt = ({ place, stackName }: Deployment, name: string): string =>
  place.run ? `${stackName}-${name}` : name;

const urlOf = (deployment: Deployment, name: string): Promise<{ QueueUrl: string }> =>
  deployment.place.call('sqs', 'get_queue_url', { QueueName: nameAt(deployment, name) });

interface Told {
  readonly source: string;
  // biome-ignore lint/suspicious/noExplicitAny: the detail of an event
  readonly detail: any;
}

/** How often a queue is read, and how many seconds each read waits for a message. */
const maxLooks = 30;
const wait = { WaitTimeSeconds: 2, MaxNumberOfMessages: 10 };

/** Waits for a number of events in a queue. */
const eventsIn = async (
  deployment: Deployment,
  name: string,
  count: number,
): Promise<readonly Told[]> => {
  const { call } = deployment.place;
  const queue = await urlOf(deployment, name);
  const found: Told[] = [];
  for (let look = 0; look < maxLooks && found.length < count; look += 1) {
    const asked = { ...queue, ...wait };
    const { Messages = [] } = await call('sqs', 'receive_message', asked);
    for (const { Body, ReceiptHandle } of Messages) {
      found.push(JSON.parse(Body));
      await call('sqs', 'delete_message', { ...queue, ReceiptHandle });
    }
  }
  requireThat(found.length >= count, `In the queue ${name} are ${found.length} events`);
  return found;
};

const tellFailedLogin = async (deployment: Deployment, { id, email }: Account): Promise<void> => {
  const { api, stackName } = deployment;
  await api('POST', '/api/login', { json: { email, password: 'a wrong password' } });
  const [event] = await eventsIn(deployment, 'failed-logins', 1);
  const { user_id, details } = event?.detail ?? {};
  const isTold = user_id === id && details === '{"reason":"wrong_password"}';
  requireThat(isTold && event?.source === stackName, `Told: ${JSON.stringify(event)}`);
};

/** Changes an entry and deletes another one, as anyone with the permissions can, and undoes both. */
const tellTampering = async (deployment: Deployment): Promise<string> => {
  const { call } = deployment.place;
  const table = { TableName: deployment.outputs.AuditTableName };
  const { Items } = await call('dynamodb', 'scan', table);
  const [changed, deleted] = Items;
  const put = (Item: object) => call('dynamodb', 'put_item', { ...table, Item });
  const begun = performance.now();
  await put({ ...changed, ip_address: { S: '192.0.2.66' } });
  await call('dynamodb', 'delete_item', { ...table, Key: { id: deleted.id } });
  const told = await eventsIn(deployment, 'tampering', 2);
  const took = performance.now() - begun;
  const kinds = told.map(({ detail: { kind, id, before } }) => [kind, String(id), before?.action]);
  const wanted = [changed, deleted].map(({ id, action }, at) => [
    ['changed', 'deleted'][at],
    id.N,
    action.S,
  ]);
  requireThat(
    JSON.stringify(kinds.sort()) === JSON.stringify(wanted),
    `Told of ${JSON.stringify(told)}, not of ${JSON.stringify(wanted)}`,
  );
  await put(changed);
  await put(deleted);
  // An entry of the last minutes that is put back is reported like a new entry.
  await eventsIn(deployment, 'tampering', 1);
  return `told ${(took / 1000).toFixed(0)} s after the first of both`;
};

/** Searches the log of all functions for the line that raises the alarm, as infra/runbooks.md does. */
const requireLogged = async ({ place, outputs }: Deployment): Promise<void> => {
  const search = linesWith('Watch', 'TEXT=audit-trail-broken');
  const found = await follow(
    search.replace('LOG_GROUP=...', `LOG_GROUP=${outputs.FunctionLogGroupName}`),
    place,
  );
  requireThat(found.includes('audit-trail-broken'), `The log has no audit-trail-broken: ${found}`);
};

/**
 * Follows infra/runbooks.md, section Events, for failed logins, and again for tampering.
 * @returns how quickly tampering was reported
 */
export const rehearseEvents = async (deployment: Deployment, user: Account): Promise<string> => {
  const both = (text: string): string => {
    const lines = linesWith('Events', text)
      .replaceAll('aws sqs ', 'aws sqs --endpoint-url "$AWS_ENDPOINT_URL" ')
      .replaceAll('accounts-production', deployment.stackName);
    const own = (name: string) => lines.replaceAll('failed-logins', nameAt(deployment, name));
    return (
      own('failed-logins') + own('tampering').replace('users.LOGIN.FAILURE', 'audit-logs.TAMPERED')
    );
  };
  await follow(both('create-queue'), deployment.place);
  await tellFailedLogin(deployment, user);
  const told = await tellTampering(deployment);
  await requireLogged(deployment);
  await follow(both('delete-rule'), deployment.place);
  for (const name of ['failed-logins', 'tampering']) {
    await deployment.place.call('sqs', 'delete_queue', await urlOf(deployment, name));
  }
  return told;
};
