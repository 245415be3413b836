/** All that a run has made and that is still there. */
import type { Call } from '../rehearsal/aws.ts';
import { prefixOf, tagKey } from './names.ts';

/** A resource, by the kind that says how it is removed. */
export interface Item {
  readonly kind: string;
  /** Its name; its ARN where calls need that. */
  readonly id: string;
}

/** Lists what carries the tag of a run, and what has its id in a name, such as Lambda's own log groups. */
export const inventoryOf = async (call: Call, run: string): Promise<readonly Item[]> => {
  const found: Item[] = [];
  for (const list of [
    stacks,
    tagged,
    tables,
    buckets,
    secrets,
    logGroups,
    functions,
    queues,
    topics,
  ]) {
    found.push(...(await list(call, prefixOf(run), run)));
  }
  const byText = new Map(found.map((item) => [textOf(item), item]));
  const there: Item[] = [];
  for (const item of byText.values()) if (await isThere(call, item)) there.push(item);
  return there;
};

export const textOf = ({ kind, id }: Item): string => `${kind} ${id}`;

type List = (call: Call, prefix: string, run: string) => Promise<readonly Item[]>;

/** An item of a list of AWS. */
// biome-ignore lint/suspicious/noExplicitAny: each list has items of its own
type Listed = any;

const stacks: List = async (call, prefix, run) => {
  const { Stacks } = await call('cloudformation', 'describe_stacks');
  const isOfRun = ({ StackName, Tags = [] }: Listed) =>
    StackName.startsWith(prefix) &&
    Tags.some(({ Key, Value }: Listed) => Key === tagKey && Value === run);
  return Stacks.filter(isOfRun).map(({ StackName: id }: Listed) => ({ kind: 'stack', id }));
};

const tagged: List = async (call, _, run) => {
  const TagFilters = [{ Key: tagKey, Values: [run] }];
  const found = await call('resourcegroupstaggingapi', 'get_resources', { TagFilters });
  const arns: readonly string[] = found.ResourceTagMappingList.map(
    ({ ResourceARN }: Listed) => ResourceARN,
  );
  // Stacks are found by themselves.
  return arns.filter((arn) => !arn.includes(':cloudformation:')).map(itemOf);
};

/** What an ARN is of: with its name where that is what calls need. */
const itemOf = (arn: string): Item => {
  const [, , service = '', , , resource = ''] = arn.split(':');
  const kind = kinds[service] ?? `${service} ${resource.replace(/^\//, '').replace(/[/:].*/, '')}`;
  if (kind === 'log-group') return { kind, id: arn.replace(/^.*:log-group:|:\*$/g, '') };
  return { kind, id: isNamed.has(kind) ? nameOf(arn) : arn };
};

/** By the service of an ARN. */
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

const tables: List = async (call, prefix) => {
  const { TableNames } = await call('dynamodb', 'list_tables');
  return named('table', TableNames, prefix);
};

const named = (kind: string, names: readonly string[], prefix: string): readonly Item[] =>
  names.filter((name) => name.startsWith(prefix)).map((id) => ({ kind, id }));

const buckets: List = async (call, prefix) => {
  const { Buckets } = await call('s3', 'list_buckets');
  return named(
    'bucket',
    Buckets.map(({ Name }: Listed) => Name),
    prefix,
  );
};

const secrets: List = async (call, prefix) => {
  const { SecretList } = await call('secretsmanager', 'list_secrets');
  const isOfRun = ({ Name }: Listed) => Name.startsWith(prefix);
  return SecretList.filter(isOfRun).map(({ ARN: id }: Listed) => ({ kind: 'secret', id }));
};

/** Also the groups of Lambda's own, `/aws/lambda/FUNCTION`, which no stack removes. */
const logGroups: List = async (call, prefix) => {
  const { logGroups: groups } = await call('logs', 'describe_log_groups');
  const names: readonly string[] = groups.map(({ logGroupName }: Listed) => logGroupName);
  const isOfRun = (name: string) => name.replace(/^\/aws\/\w+\//, '').startsWith(prefix);
  return names.filter(isOfRun).map((id) => ({ kind: 'log-group', id }));
};

const functions: List = async (call, prefix) => {
  const { Functions } = await call('lambda', 'list_functions');
  return named(
    'function',
    Functions.map(({ FunctionName }: Listed) => FunctionName),
    prefix,
  );
};

const queues: List = async (call, QueueNamePrefix) => {
  const { QueueUrls = [] } = await call('sqs', 'list_queues', { QueueNamePrefix });
  return QueueUrls.map((url: string) => ({ kind: 'queue', id: nameOf(url) }));
};

const topics: List = async (call, prefix) => {
  const { Topics } = await call('sns', 'list_topics');
  const isOfRun = ({ TopicArn }: Listed) => nameOf(TopicArn).startsWith(prefix);
  return Topics.filter(isOfRun).map(({ TopicArn: id }: Listed) => ({ kind: 'topic', id }));
};

/** The last part of an ARN or a URL. */
const nameOf = (id: string): string => id.replace(/^.*[/:]/, '');

/** Whether something is there: AWS goes on listing the tags of what is gone, and a key waits for a week. */
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
