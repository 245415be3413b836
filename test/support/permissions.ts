/** Checks the requests of functions to the tables against their permissions, as IAM does. */
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { TablePermission } from '../../infra/permissions.ts';
import type { FunctionDefinition } from '../../infra/uses.ts';
import { tables } from '../../lib/dynamodb/tables.ts';

type Environment = Readonly<Record<string, string>>;
type Item = Readonly<Record<string, AttributeValue>>;

/** An action on a table or an index, with the partition keys by which IAM judges it. */
export interface Taken {
  readonly action: string;
  readonly table: string;
  readonly index: string | undefined;
  readonly keys: readonly string[];
}

/** A request for items, or an item of a transaction. */
interface Asking {
  readonly TableName: string;
  readonly IndexName?: string;
  readonly Key?: Item;
  readonly Item?: Item;
  /** The values of a query, in which all code names the partition `:p`. */
  readonly ExpressionAttributeValues?: Item;
}

/**
 * The actions for which a request needs permission: a transaction needs one for each kind of its items. Each action has
 * all keys of the request, because it is not known whether AWS checks an action only by the keys of its own items.
 */
export const takenBy = (
  operation: string,
  request: object,
  environment: Environment,
): readonly Taken[] => {
  const parts = partsOfRequest(operation, request);
  const asked = new Set(
    parts.map(([action, { TableName, IndexName }]) =>
      JSON.stringify([action, TableName, IndexName]),
    ),
  );
  return [...asked].map((on) => {
    const [action, tableName, index] = JSON.parse(on);
    const definition = tables.find(({ variable }) => environment[variable] === tableName);
    const key = index ? ':p' : `${definition?.partitionKey.name}`;
    return {
      action: `dynamodb:${action}`,
      table: definition?.name ?? tableName,
      index: index ?? undefined,
      keys: parts
        .filter(([, { TableName }]) => TableName === tableName)
        .map(([, { Key, Item, ExpressionAttributeValues }]) => {
          const value = (Key ?? Item ?? ExpressionAttributeValues)?.[key];
          return String(value?.S ?? value?.N);
        }),
    };
  });
};

/** Whether one of the permissions allows an action for all of its keys. */
export const isAllowed = (taken: Taken, permissions: readonly TablePermission[]): boolean =>
  permissions.some(
    ({ table, action, indexes, keys }) =>
      action === taken.action &&
      table === taken.table &&
      (taken.index === undefined ? !indexes : indexes?.includes(taken.index) === true) &&
      taken.keys.every((key) => !keys || keys.some((pattern) => isLike(pattern, key))),
  );

/** The condition of a statement: the allowed values, by operator and key. */
export type Condition = Readonly<
  Record<string, Readonly<Record<string, string | readonly string[]>>>
>;

/** Whether a request meets a condition as IAM judges it. @param request the values of its keys */
export const meets = (
  condition: Condition,
  request: Readonly<Record<string, readonly string[]>>,
): boolean =>
  Object.entries(condition).every(([operator, keys]) =>
    Object.entries(keys).every(([key, allowed]) => {
      const given = request[key] ?? [];
      const isAllowedValue = (value: string) => [allowed].flat().includes(value);
      if (operator === 'Null') return isAllowedValue(String(given.length === 0));
      if (operator === 'ForAllValues:StringEquals') return given.every(isAllowedValue);
      if (operator === 'ForAnyValue:StringEquals') return given.some(isAllowedValue);
      throw new Error(`No test knows how IAM judges ${operator}`);
    }),
  );

/**
 * Judges all requests to the engine until the tests of this process end: a request for which its function has no
 * permission fails as in AWS.
 * @param running the function of each request
 * @returns the refused requests
 */
export const judgeRequests = (
  running: AsyncLocalStorage<FunctionDefinition>,
  environment: Environment,
): readonly string[] => {
  const refused: string[] = [];
  const judge: Judge = (operation, request) => {
    const { name, permissions } = running.getStore() ?? {};
    for (const taken of permissions ? takenBy(operation, request, environment) : []) {
      if (isAllowed(taken, permissions ?? [])) continue;
      refused.push(`${name}: ${JSON.stringify(taken)}`);
      throw Object.assign(new Error(refused.at(-1)), { name: 'AccessDeniedException' });
    }
  };
  judges().add(judge);
  return refused;
};

type Judge = (operation: string, request: object) => void;

const partsOfRequest = (
  operation: string,
  request: {
    readonly TransactItems?: readonly Readonly<Record<string, Asking>>[];
    readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly Item[] }>>;
  },
): readonly (readonly [action: string, Asking])[] => {
  const { TransactItems, RequestItems } = request;
  if (TransactItems) {
    return TransactItems.flatMap((item) =>
      Object.entries(item).map(([kind, asking]) => [`${kind}Item`, asking] as const),
    );
  }
  if (!RequestItems) return [[operation, request as Asking]];
  return Object.entries(RequestItems).flatMap(([TableName, { Keys }]) =>
    Keys.map((Key) => [operation, { TableName, Key }] as const),
  );
};

/** Whether a text is like a pattern of IAM's `StringLike`: all patterns here have their `*` at the end. */
const isLike = (pattern: string, text: string): boolean =>
  pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;

/** The judges of all services of this process, which test files share. */
const judges = (): Set<Judge> => {
  const shared = globalThis as { judges?: Set<Judge> };
  if (shared.judges) return shared.judges;
  const all = new Set<Judge>();
  shared.judges = all;
  const { send } = DynamoDBDocumentClient.prototype;
  DynamoDBDocumentClient.prototype.send = function judged(this: unknown, ...call: unknown[]) {
    const [{ middlewareStack }] = call as [Parameters<typeof send>[0]];
    middlewareStack.add(
      (next) => async (args) => {
        const { headers, body } = args.request as { headers: Environment; body: Uint8Array };
        const operation = `${headers['x-amz-target']}`.replace(/.*\./, '');
        const request = JSON.parse(new TextDecoder().decode(body));
        for (const judge of all) judge(operation, request);
        return next(args);
      },
      { step: 'finalizeRequest', name: 'judged', override: true },
    );
    return Reflect.apply(send, this, call);
  };
  return all;
};
