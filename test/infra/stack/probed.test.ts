/** That the proof in AWS tries all that the role of each function allows (test/rehearsal/permissions.ts). */
import { describe, expect, it } from 'vitest';
import type { FunctionDefinition } from '../../../infra/uses.ts';
import { everyFunction, functionsOf } from '../../rehearsal/permissions.ts';
import type { ProbeCall } from '../../rehearsal/probe.ts';
import { allowedCalls } from '../../rehearsal/probe-calls.ts';
import { isAllowed, takenBy } from '../../support/permissions.ts';
import { idOf, resourcesOf, synthesise, target } from './template.ts';

type Texts = Readonly<Record<string, string>>;

/** The IAM action of an operation that does not have its name. */
const actions: Texts = {
  'lambda:Invoke': 'lambda:InvokeFunction',
  's3:GetObject': 's3:GetObjectVersion',
  's3:ListObjectVersions': 's3:ListBucketVersions',
};

/** What Lambda does around a call of a function, and what only decides which error S3 responds with. */
const notByCode = /Stream|GetRecords|GetShardIterator|^logs:|^xray:|^s3:ListBucket$/;

const variablesOf = (settings: Texts, definition: FunctionDefinition): Texts => {
  const lambdas = resourcesOf(synthesise(settings), 'AWS::Lambda::Function');
  const { Environment } = lambdas.get(idOf(definition, 'Function'))?.Properties ?? {};
  const named = Object.entries<unknown>(Environment?.Variables ?? {});
  return Object.fromEntries(named.map(([name, value]) => [name, target(value)]));
};

const actionsOfRole = (settings: Texts, definition: FunctionDefinition): readonly string[] => {
  const policies = resourcesOf(synthesise(settings), 'AWS::IAM::Policy');
  const policy = policies.get(`${idOf(definition, 'Role')}DefaultPolicy`);
  const statements: readonly { readonly Action: string | readonly string[] }[] =
    policy?.Properties.PolicyDocument.Statement ?? [];
  const all = statements.flatMap(({ Action }) => Action);
  return [...new Set(all.filter((action) => !notByCode.test(action)))].sort();
};

/** What a call takes on tables. */
const onTables = (call: ProbeCall, variables: Texts) =>
  call.service === 'dynamodb' ? takenBy(call.operation, call.input, variables) : [];

const actionsOf = (call: ProbeCall, variables: Texts): readonly string[] => {
  const name = `${call.service}:${call.operation}`;
  if (call.service !== 'dynamodb') return [actions[name] ?? name];
  return onTables(call, variables).map(({ action }) => action);
};

const cases = [
  ['every function', everyFunction],
  ['production', { stage: 'production', events: 'on' }],
].flatMap(([title, settings]) =>
  functionsOf(settings as Texts).map(
    (definition) => [definition.name, title, settings, definition] as const,
  ),
) as readonly (readonly [string, string, Texts, FunctionDefinition])[];

describe('The proof tries exactly the actions of the role', () => {
  it.each(cases)('of %s in a stack for %s', (_, __, settings, definition) => {
    const variables = variablesOf(settings, definition);

    const calls = allowedCalls(definition, variables, 'encrypted');

    const tried = [...new Set(calls.flatMap((call) => actionsOf(call, variables)))].sort();
    expect(tried).toEqual(actionsOfRole(settings, definition));
  });
});

describe('The proof tries exactly the keys and indexes of each permission on tables', () => {
  it.each(cases)('of %s in a stack for %s', (_, __, settings, definition) => {
    const { permissions } = definition;
    const variables = variablesOf(settings, definition);

    const taken = allowedCalls(definition, variables, 'encrypted').flatMap((call) =>
      onTables(call, variables),
    );

    expect(taken.filter((one) => !isAllowed(one, permissions))).toEqual([]);
    const untried = permissions.flatMap(({ indexes = [undefined], keys, ...on }) =>
      indexes.flatMap((index) =>
        (keys ?? ['']).filter(
          (key) =>
            !taken.some(
              (one) =>
                one.action === on.action &&
                one.table === on.table &&
                one.index === index &&
                one.keys.some((each) => each.startsWith(key.replace('*', ''))),
            ),
        ),
      ),
    );
    expect(untried).toEqual([]);
  });
});

it('For most functions that write, the proof tries a transaction that also writes an entry', () => {
  const writing = functionsOf(everyFunction).filter(({ permissions }) =>
    permissions.some(({ table, action }) => table === 'audit' && action === 'dynamodb:PutItem'),
  );

  const mixed = writing.filter((definition) => {
    const variables = variablesOf(everyFunction, definition);
    const kinds = allowedCalls(definition, variables, '').map(
      (call) => new Set(onTables(call, variables).map(({ table }) => table)).size,
    );
    return Math.max(...kinds) === 2;
  });

  expect(writing.length).toBeGreaterThan(15);
  expect(writing.filter((each) => !mixed.includes(each)).map(({ name }) => name)).toEqual([]);
});
