/**
 * What a stack has, as short texts that are read whenever they change: `npm test -- --update` with this
 * file writes them. What settings turn on and off, and how resources fit each other, is in the tests
 * beside this one.
 */
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { everything, plainId, production, synthesise, target } from './template.ts';

describe.each([
  ['development', {}],
  ['production', production],
  ['everything', everything],
])('A stack of %s', (name, settings) => {
  const template = synthesise(settings);
  const resources = resourcesIn(template);
  const reviewed = (of: string) => `reviewed/${name}-${of}.txt`;

  it('has functions that may do and know what was reviewed, and nothing else', async () => {
    await expect(functionsText(resources)).toMatchFileSnapshot(reviewed('functions'));
  });

  it('has the other resources, and the outputs, that were reviewed', async () => {
    const outputs = Object.entries(template.findOutputs('*')).flatMap(([id, { Value }]) =>
      linesOf(Value, id),
    );
    await expect(
      `${othersText(resources)}\n${textOf([['Outputs:', outputs]])}`,
    ).toMatchFileSnapshot(reviewed('resources'));
  });
});

interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}
type Resources = ReadonlyMap<string, Resource>;

/** A resource, and a line for each property. */
type Part = readonly [title: string, lines: readonly string[]];

function resourcesIn(template: Template): Resources {
  const all = Object.entries<Resource>(template.toJSON().Resources);
  return new Map(all.map(([id, resource]) => [plainId(id), resource]));
}

const ofType = (resources: Resources, type: string) =>
  [...resources].filter(([, { Type }]) => Type === type);

/** Each function with its role. A variable stands at the top, and at functions by its name alone. */
function functionsText(resources: Resources): string {
  const lambdas = ofType(resources, 'AWS::Lambda::Function');
  const variables = new Set(lambdas.flatMap(([, lambda]) => linesOf(variablesOf(lambda))));
  const everywhere = (name: string) => lambdas.every(([, one]) => name in variablesOf(one));
  const functions = lambdas.map(([id, lambda]): Part => {
    const names = Object.keys(variablesOf(lambda));
    const known = [names.filter(everywhere), names.filter((name) => !everywhere(name))];
    const knows = known
      .filter(({ length }) => length > 0)
      .map((some) => `knows ${some.join(', ')}`);
    const { Description, MemorySize, Timeout } = lambda.Properties ?? {};
    const title = `${id}: ${Description}; ${MemorySize} MB, ${Timeout} s`;
    return [title, [...functionLines(lambda, resources), ...knows]];
  });
  return textOf([['Variables:', [...variables].sort()], ...sharing('Every function', functions)]);
}

const variablesOf = ({ Properties }: Resource): object =>
  (Properties?.Environment as { Variables?: object } | undefined)?.Variables ?? {};

function functionLines({ Properties }: Resource, resources: Resources): string[] {
  const { Code, Role, Environment, Tags, Description, MemorySize, Timeout, ...others } =
    Properties ?? {};
  const role = target(Role);
  const { Tags: _, ...ofRole } = resources.get(role)?.Properties ?? {};
  const policies = ofType(resources, 'AWS::IAM::Policy').map(
    ([, policy]) => policy.Properties ?? {},
  );
  const own = policies.filter(({ Roles }) => [Roles].flat().some((one) => target(one) === role));
  return [
    ...linesOf(others),
    ...linesOf(ofRole),
    ...own.flatMap((one) => linesOf(one.PolicyDocument)),
  ];
}

/** These have tests of their own, or are for people to look at. */
const notHere =
  /^AWS::(?:Lambda::(?:Function|Permission)|ApiGatewayV2::(?:Route|Integration)|CloudWatch::Dashboard)$/;

/** Resources by type, but for functions with their roles. */
function othersText(resources: Resources): string {
  const roles = ofType(resources, 'AWS::Lambda::Function').map(([, { Properties }]) =>
    target(Properties?.Role),
  );
  const ofFunctions = new Set(roles.flatMap((role) => [role, `${role}DefaultPolicy`]));
  const others = [...resources].filter(
    ([id, { Type }]) => !(notHere.test(Type) || ofFunctions.has(id)),
  );
  const types = Map.groupBy(others, ([, { Type }]) => Type.replace('AWS::', ''));
  const parts = [...types].sort().flatMap(([type, all]) =>
    sharing(
      type,
      all.map(([id, { DeletionPolicy, UpdateReplacePolicy, Properties }]) => {
        const { Tags, ...properties } = Properties ?? {};
        return [id, linesOf({ DeletionPolicy, UpdateReplacePolicy, ...properties })];
      }),
    ),
  );
  return textOf(parts);
}

/** The lines that all parts have, under a title, and then what each has besides. */
function sharing(title: string, parts: readonly Part[]): Part[] {
  const [[, first = []] = []] = parts;
  const shared = first.filter((line) => parts.every(([, lines]) => lines.includes(line)));
  const others = parts.map(
    ([name, lines]) => [name, lines.filter((line) => !shared.includes(line))] as const,
  );
  return [[`${title}:`, shared], ...others.map(([name, lines]): Part => [`  ${name}`, lines])];
}

function textOf(parts: readonly Part[]): string {
  const lines = parts.flatMap(([title, all]) => [title, ...all.map((line) => `    ${line}`)]);
  return `${lines.join('\n').replaceAll(/\n(?=\S)/g, '\n\n')}\n`;
}

/** A line for each property or statement, or for each of its parts where it would be long. */
function linesOf(value: unknown, path = ''): string[] {
  if (isStatements(value)) return value.Statement.map((one) => `${path} ${statement(one)}`.trim());
  const line = `${path}: ${inline(value)}`;
  if (isPlain(value) || (path && line.length <= 220)) return value === undefined ? [] : [line];
  return Object.entries(value as object).flatMap(([name, inner]) =>
    linesOf(inner, path ? `${path}.${name}` : name),
  );
}

function inline(value: unknown): string {
  if (isPlain(value)) return plain(value);
  if (Array.isArray(value)) return value.map(inline).join(', ');
  return `{ ${Object.entries(value as object)
    .map(([name, inner]) => `${name}: ${inline(inner)}`)
    .join(', ')} }`;
}

const isStatements = (value: unknown): value is { readonly Statement: readonly Statement[] } =>
  typeof value === 'object' && value !== null && 'Statement' in value;

const isPlain = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  /^(?:Ref|Fn::\w+)$/.test(Object.keys(value).join());

const plain = (value: unknown): string =>
  (typeof value === 'object' ? target(value) : String(value))
    .replaceAll('arn:AWS::Partition:', '')
    .replaceAll('AWS::Region:AWS::AccountId:', '')
    .replaceAll(/\.AWS::Region\.(?:AWS::URLSuffix|amazonaws\.com)/g, '');

interface Statement {
  readonly Sid?: string;
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Principal?: unknown;
  readonly Resource?: unknown;
  readonly Condition?: unknown;
}

/** `Allow dynamodb:GetItem on UsersTable where ...`, without the mark that names a statement. */
function statement(one: Statement): string {
  const { Sid, Effect, Action, Principal, Resource, Condition, ...others } = one;
  return [
    `${Effect} ${[Action].flat().join(', ')}`,
    Resource ? `on ${[Resource].flat().map(plain).join(', ')}` : '',
    Principal ? `to ${inline(Principal)}` : '',
    Condition ? `where ${inline(Condition)}` : '',
    ...linesOf(others),
  ]
    .filter(Boolean)
    .join(' ');
}
