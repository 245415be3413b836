/** Has rules of the bus bring failed logins, and tampering with entries, to queues. */
import type { Account } from '../support/client.ts';
import type { Deployment } from './deployment.ts';
import { follow, linesWith } from './runbook.ts';
import { aws } from './seal.ts';
import { requireThat } from './step.ts';
import { resourcesOf, type Template } from './template.ts';

/** In AWS the API of EventBridge has a host of its own; here it is the emulator's. */
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

/** Version 1 of the command line, which is installed here, otherwise asks SQS in AWS. */
const sqs = (deployment: Deployment, ...args: readonly string[]) =>
  aws(deployment, 'sqs', ...args, '--endpoint-url', deployment.emulator.env.AWS_ENDPOINT_URL ?? '');

const urlOf = async (deployment: Deployment, name: string): Promise<readonly string[]> => {
  const { QueueUrl } = await sqs(deployment, 'get-queue-url', '--queue-name', name);
  return ['--queue-url', QueueUrl];
};

interface Told {
  readonly source: string;
  // biome-ignore lint/suspicious/noExplicitAny: the detail of an event
  readonly detail: any;
}

/** Times to look into a queue, which waits for a message for so many seconds. */
const maxLooks = 30;
const wait = ['--wait-time-seconds', '2', '--max-number-of-messages', '10'];

/** Waits for a number of events in a queue. */
const eventsIn = async (
  deployment: Deployment,
  name: string,
  count: number,
): Promise<readonly Told[]> => {
  const queue = await urlOf(deployment, name);
  const found: Told[] = [];
  for (let look = 0; look < maxLooks && found.length < count; look += 1) {
    const { Messages = [] } = (await sqs(deployment, 'receive-message', ...queue, ...wait)) || {};
    for (const { Body, ReceiptHandle } of Messages) {
      found.push(JSON.parse(Body));
      await sqs(deployment, 'delete-message', ...queue, '--receipt-handle', ReceiptHandle);
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

/** Changes an entry and deletes another, as who has its permissions can, and undoes both. */
const tellTampering = async (deployment: Deployment): Promise<string> => {
  const table = ['--table-name', deployment.outputs.AuditTableName ?? ''];
  const { Items } = await aws(deployment, 'dynamodb', 'scan', ...table, '--max-items', '2');
  const [changed, deleted] = Items;
  const put = (item: object) =>
    aws(deployment, 'dynamodb', 'put-item', ...table, '--item', JSON.stringify(item));
  const begun = performance.now();
  await put({ ...changed, ip_address: { S: '192.0.2.66' } });
  const key = JSON.stringify({ id: deleted.id });
  await aws(deployment, 'dynamodb', 'delete-item', ...table, '--key', key);
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
  // An entry of the last minutes that comes back is like a new one.
  await eventsIn(deployment, 'tampering', 1);
  return `told ${(took / 1000).toFixed(0)} s after the first of both`;
};

/** Searches the log of all functions for what raises the alarm, as infra/runbooks.md does. */
const requireLogged = async ({ emulator, outputs }: Deployment): Promise<void> => {
  const search = linesWith('Watch', 'TEXT=audit-trail-broken');
  const found = await follow(
    search.replace('LOG_GROUP=...', `LOG_GROUP=${outputs.FunctionLogGroupName}`),
    emulator,
  );
  requireThat(found.includes('audit-trail-broken'), `The log has no audit-trail-broken: ${found}`);
};

/**
 * Follows infra/runbooks.md, section Events, for failed logins, and once more for tampering.
 * @returns how quickly tampering was told
 */
export const rehearseEvents = async (deployment: Deployment, user: Account): Promise<string> => {
  const both = (text: string): string => {
    const lines = linesWith('Events', text)
      .replaceAll('aws sqs ', 'aws sqs --endpoint-url "$AWS_ENDPOINT_URL" ')
      .replaceAll('accounts-production', deployment.stackName);
    const others = lines.replaceAll('failed-logins', 'tampering');
    return lines + others.replace('users.LOGIN.FAILURE', 'audit-logs.TAMPERED');
  };
  await follow(both('create-queue'), deployment.emulator);
  await tellFailedLogin(deployment, user);
  const told = await tellTampering(deployment);
  await requireLogged(deployment);
  await follow(both('delete-rule'), deployment.emulator);
  for (const name of ['failed-logins', 'tampering']) {
    await sqs(deployment, 'delete-queue', ...(await urlOf(deployment, name)));
  }
  return told;
};
