/** Lists everything that a run has made and that still exists. */
import type { Call } from '../rehearsal/aws.ts';
import { prefixOf, tagKey } from './names.ts';

/** A resource; its kind determines how it is removed. */
export interface Item {
  readonly kind: string;
  /** Its name, or its ARN if calls need the ARN. */
  readonly id: string;
}

/**
 * Lists items with the tag of a run, and items with its id in their names, such as the log groups that Lambda makes.
 */
export const inventoryOf = async (call: Call, run: string): Promise<readonly Item[]> => {
  const found = [...(await stacksOf(call, run)), ...(await taggedBy(call, run))];
  for (const [kind, list] of Object.entries(lists)) {
    const isOfRun = (id: string) => ownNameOf(id).startsWith(prefixOf(run));
    found.push(...(await list(call)).filter(isOfRun).map((id) => ({ kind, id })));
  }
  const byText = new Map(found.map((item) => [textOf(item), item]));
  const there: Item[] = [];
  for (const item of byText.values()) if (await isThere(call, item)) there.push(item);
  return there;
};

export const textOf = ({ kind, id }: Item): string => `${kind} ${id}`;

/** An item in a list that AWS returns. */
// biome-ignore lint/suspicious/noExplicitAny: each list has items of its own
type Listed = any;

const stacksOf = async (call: Call, run: string): Promise<readonly Item[]> => {
  const { Stacks } = await call('cloudformation', 'describe_stacks');
  const isOfRun = ({ StackName, Tags = [] }: Listed) =>
    StackName.startsWith(prefixOf(run)) &&
    Tags.some(({ Key, Value }: Listed) => Key === tagKey && Value === run);
  return Stacks.filter(isOfRun).map(({ StackName: id }: Listed) => ({ kind: 'stack', id }));
};

const taggedBy = async (call: Call, run: string): Promise<readonly Item[]> => {
  const TagFilters = [{ Key: tagKey, Values: [run] }];
  const found = await call('resourcegroupstaggingapi', 'get_resources', { TagFilters });
  const arns: readonly string[] = found.ResourceTagMappingList.map(
    ({ ResourceARN }: Listed) => ResourceARN,
  );
  // Stacks are listed separately.
  return arns.filter((arn) => !arn.includes(':cloudformation:')).map(itemOf);
};

/** The item of an ARN, with the name as its id if calls need the name, or else with the ARN. */
const itemOf = (arn: string): Item => {
  const [, , service = '', , , resource = ''] = arn.split(':');
  const kind = kinds[service] ?? `${service} ${resource.replace(/^\//, '').replace(/[/:].*/, '')}`;
  if (kind === 'log-group') return { kind, id: arn.replace(/^.*:log-group:|:\*$/g, '') };
  return { kind, id: isNamed.has(kind) ? nameOf(arn) : arn };
};

/** The kinds, by the service in an ARN. */
const kinds: Readonly<Record<string, string>> = {
  dynamodb: 'table',
  s3: 'bucket',
  kms: 'key',
  secretsmanager: 'secret',
  logs: 'log-group',
  lambda: 'function',
  sqs: 'queue',
  sns: 'topic',
};
const isNamed = new Set(['table', 'bucket', 'function', 'queue']);

/** For each kind, lists the names, or ARNs, of all its items in the account. */
const lists: Readonly<Record<string, (call: Call) => Promise<readonly string[]>>> = {
  table: async (call) => (await call('dynamodb', 'list_tables')).TableNames,
  bucket: async (call) =>
    (await call('s3', 'list_buckets')).Buckets.map(({ Name }: Listed) => Name),
  secret: async (call) =>
    (await call('secretsmanager', 'list_secrets')).SecretList.map(({ ARN }: Listed) => ARN),
  'log-group': async (call) =>
    (await call('logs', 'describe_log_groups')).logGroups.map(
      ({ logGroupName }: Listed) => logGroupName,
    ),
  function: async (call) =>
    (await call('lambda', 'list_functions')).Functions.map(
      ({ FunctionName }: Listed) => FunctionName,
    ),
  queue: async (call) => ((await call('sqs', 'list_queues')).QueueUrls ?? []).map(nameOf),
  topic: async (call) =>
    (await call('sns', 'list_topics')).Topics.map(({ TopicArn }: Listed) => TopicArn),
};

/** The last part of an ARN or a URL. */
const nameOf = (id: string): string => id.replace(/^.*[/:]/, '');

/**
 * The name in a name or an ARN; for a log group that Lambda makes, `/aws/lambda/FUNCTION`, the name of the function.
 */
const ownNameOf = (id: string): string => id.replace(/^\/aws\/\w+\/|^arn:.*:/, '');

/** Whether an item exists: AWS still lists the tags of deleted items, and a deleted key waits for a week. */
const isThere = async (call: Call, { kind, id }: Item): Promise<boolean> => {
  const look = looks[kind];
  if (!look) return true;
  return look(call, id).catch((error: Error) => {
    if (/NotFound|NoSuch|NonExistent|404/i.test(error.name)) return false;
    throw error;
  });
};

const looks: Readonly<Record<string, (call: Call, id: string) => Promise<boolean>>> = {
  table: async (call, id) => {
    const { Table } = await call('dynamodb', 'describe_table', { TableName: id });
    return Table.TableStatus !== 'DELETING';
  },
  bucket: async (call, id) => Boolean(await call('s3', 'head_bucket', { Bucket: id })),
  key: async (call, KeyId) => {
    const { KeyMetadata } = await call('kms', 'describe_key', { KeyId });
    return KeyMetadata.KeyState !== 'PendingDeletion';
  },
  secret: async (call, SecretId) => {
    const { DeletedDate } = await call('secretsmanager', 'describe_secret', { SecretId });
    return !DeletedDate;
  },
  queue: async (call, id) => Boolean(await call('sqs', 'get_queue_url', { QueueName: id })),
  topic: async (call, id) => Boolean(await call('sns', 'get_topic_attributes', { TopicArn: id })),
  'log-group': async (call, id) => {
    const { logGroups: found } = await call('logs', 'describe_log_groups', {
      logGroupNamePrefix: id,
    });
    return found.some(({ logGroupName }: Listed) => logGroupName === id);
  },
  function: async (call, id) =>
    Boolean(await call('lambda', 'get_function_configuration', { FunctionName: id })),
};
