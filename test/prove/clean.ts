/** Removes everything that a run has made. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Call } from '../rehearsal/aws.ts';
import { saysExpired } from './fault.ts';
import { type Item, inventoryOf, textOf } from './inventory.ts';

export interface Cleaned {
  readonly removed: readonly string[];
  /** The items that are left, each with the reason. */
  readonly left: readonly string[];
}

/** How often the inventory is repeated: a removal may leave something, such as the log group of a function. */
const rounds = 3;

/**
 * Lists everything that a run has made, and removes exactly that: stacks first, and then each other item that a new
 * inventory still has. The stack of the CDK's bootstrap belongs to no run.
 * @param tell is called with each line
 */
export const clean = async (
  call: Call,
  run: string,
  tell: (line: string) => void,
): Promise<Cleaned> => {
  const removed: string[] = [];
  let left: readonly string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const listed = await inventoryOf(call, run);
    if (listed.length === 0) return { removed, left: [] };
    tell(`Removing ${listed.length}:\n${listed.map((item) => `  ${textOf(item)}`).join('\n')}`);
    const why = await removeAll(call, run, listed);
    const there = (await inventoryOf(call, run)).map(textOf);
    removed.push(...listed.map(textOf).filter((text) => !there.includes(text)));
    left = there.map((text) => `${text}: ${why.get(text) ?? 'it is still there'}`);
  }
  return { removed, left };
};

/** @returns why something could not be removed */
const removeAll = async (
  call: Call,
  run: string,
  listed: readonly Item[],
): Promise<ReadonlyMap<string, string>> => {
  const why = new Map<string, string>();
  const inOrder = [...listed].sort(
    (a, b) => Number(b.kind === 'stack') - Number(a.kind === 'stack'),
  );
  for (const item of inOrder) {
    // Stacks remove most of the other items.
    const now = (await inventoryOf(call, run)).map(textOf);
    if (!now.includes(textOf(item))) continue;
    await removals[item.kind]?.(call, item.id).catch((error: Error) => {
      if (saysExpired(error.name)) throw error;
      why.set(textOf(item), `${error.name}: ${error.message}`);
    });
  }
  // AWS still lists the tags of items that were deleted with their stack for some minutes.
  const isOfStack = ({ kind }: Item) => !removals[kind];
  const isGone = async () => !(await inventoryOf(call, run)).some(isOfStack);
  if (listed.some(isOfStack)) await untilTrue(isGone, listedLooks).catch(() => undefined);
  for (const item of listed.filter(isOfStack)) why.set(textOf(item), leftByStack);
  return why;
};

const leftByStack =
  'AWS still lists it: run --clean again in an hour, and remove it by hand if it is there then';

type Removal = (call: Call, id: string) => Promise<unknown>;

const removals: Readonly<Record<string, Removal>> = {
  stack: async (call, StackName) => {
    const unprotected = { StackName, EnableTerminationProtection: false };
    await call('cloudformation', 'update_termination_protection', unprotected);
    await deleteStack(call, StackName);
  },
  table: async (call, TableName) => {
    const { Table } = await call('dynamodb', 'describe_table', { TableName });
    if (Table.DeletionProtectionEnabled) {
      const unprotected = { TableName, DeletionProtectionEnabled: false };
      await call('dynamodb', 'update_table', unprotected);
    }
    await untilTrue(async () => {
      const described = await call('dynamodb', 'describe_table', { TableName });
      return described.Table.TableStatus === 'ACTIVE';
    });
    await call('dynamodb', 'delete_table', { TableName });
  },
  bucket: (call, id) => deleteBucket(call, id),
  key: (call, KeyId) => call('kms', 'schedule_key_deletion', { KeyId, PendingWindowInDays: 7 }),
  secret: (call, SecretId) =>
    call('secretsmanager', 'delete_secret', { SecretId, ForceDeleteWithoutRecovery: true }),
  'log-group': async (call, logGroupName) => {
    const unprotected = { logGroupIdentifier: logGroupName, deletionProtectionEnabled: false };
    // This is refused if the group was never protected: then the next call reports a real fault, if there is one.
    await call('logs', 'put_log_group_deletion_protection', unprotected).catch(() => undefined);
    await call('logs', 'delete_log_group', { logGroupName });
  },
  function: (call, id) => call('lambda', 'delete_function', { FunctionName: id }),
  queue: async (call, id) => {
    const { QueueUrl } = await call('sqs', 'get_queue_url', { QueueName: id });
    await call('sqs', 'delete_queue', { QueueUrl });
  },
  // A bus that has rules is not deleted with its stack.
  'events event-bus': async (call, EventBusName) => {
    const { Rules } = await call('events', 'list_rules', { EventBusName });
    for (const { Name } of Rules) {
      const { Targets } = await call('events', 'list_targets_by_rule', {
        EventBusName,
        Rule: Name,
      });
      const Ids = Targets.map(({ Id }: { readonly Id: string }) => Id);
      if (Ids.length > 0) await call('events', 'remove_targets', { EventBusName, Rule: Name, Ids });
      await call('events', 'delete_rule', { EventBusName, Name });
    }
    await call('events', 'delete_event_bus', { Name: EventBusName.replace(/^.*\//, '') });
  },
  topic: (call, TopicArn) => call('sns', 'delete_topic', { TopicArn }),
};

/** Deletes a stack; items that it cannot delete are found by their tag, like the items of a failed creation. */
const deleteStack = async (call: Call, StackName: string): Promise<void> => {
  const statusOf = async () => {
    const { Stacks } = await call('cloudformation', 'describe_stacks', { StackName }).catch(
      (error: Error) => {
        if (error.name === 'ValidationError') return { Stacks: [] };
        throw error;
      },
    );
    return Stacks[0]?.StackStatus ?? 'DELETE_COMPLETE';
  };
  const ended = () => untilTrue(async () => /^DELETE_(COMPLETE|FAILED)$/.test(await statusOf()));
  await untilTrue(async () => !/_IN_PROGRESS$/.test(await statusOf()));
  await call('cloudformation', 'delete_stack', { StackName });
  await ended();
  if ((await statusOf()) === 'DELETE_COMPLETE') return;
  const listed = await call('cloudformation', 'list_stack_resources', { StackName });
  const RetainResources = listed.StackResourceSummaries.filter(
    ({ ResourceStatus }: { readonly ResourceStatus: string }) => ResourceStatus === 'DELETE_FAILED',
  ).map(({ LogicalResourceId }: { readonly LogicalResourceId: string }) => LogicalResourceId);
  await call('cloudformation', 'delete_stack', { StackName, RetainResources });
  await ended();
};

/** Deletes all versions and the bucket. @throws {Error} while a version is locked */
const deleteBucket = async (call: Call, Bucket: string): Promise<void> => {
  const { Versions = [], DeleteMarkers = [] } = await call('s3', 'list_object_versions', {
    Bucket,
  });
  for (const { Key, VersionId } of [...Versions, ...DeleteMarkers]) {
    await call('s3', 'delete_object', { Bucket, Key, VersionId }).catch((error: Error) => {
      if (error.name !== 'AccessDenied') throw error;
      throw new Error('an object is locked: run --clean again when a day has passed');
    });
  }
  await call('s3', 'delete_bucket', { Bucket });
};

/** Milliseconds between two checks, and the most checks: an hour in AWS, where stacks take minutes. */
const pause = 2000;
const mostLooks = 1800;

/** The most checks, each of some seconds, for items that AWS only lists. */
const listedLooks = 60;

const untilTrue = async (look: () => Promise<boolean>, most = mostLooks): Promise<void> => {
  for (let n = 0; n < most; n += 1) {
    if (await look()) return;
    await wait(pause);
  }
  throw new Error('it took more than an hour');
};
