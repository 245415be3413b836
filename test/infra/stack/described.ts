/** A stack's template as lines that a reader compares: a line for each property or statement. */
import type { Template } from 'aws-cdk-lib/assertions';
import { plainId, target } from './template.ts';

/** A resource, and a line for each property. */
export interface Part {
  readonly name: string;
  readonly lines: readonly string[];
}

/** Resources of a kind. */
export interface Kind {
  readonly title: string;
  readonly parts: readonly Part[];
}

/** The functions, each with its role. Values of variables stand once, and at functions their names. */
export function functionsIn(template: Template): readonly Kind[] {
  const resources = resourcesIn(template);
  const lambdas = ofType(resources, 'AWS::Lambda::Function');
  const variables = new Set(lambdas.flatMap(([, lambda]) => linesOf(variablesOf(lambda))));
  const parts = lambdas.map(([id, lambda]): Part => {
    const { Description, MemorySize, Timeout } = lambda.Properties ?? {};
    const knows = Object.keys(variablesOf(lambda)).map((name) => `knows ${name}`);
    return {
      name: `${id}: ${Description}; ${MemorySize} MB, ${Timeout} s`,
      lines: [...functionLines(lambda, resources), ...knows],
    };
  });
  return [
    { title: 'Variables', parts: [{ name: 'Values', lines: [...variables].sort() }] },
    { title: 'Functions', parts },
  ];
}

/** The other resources, by type, and the outputs. */
export function othersIn(template: Template): readonly Kind[] {
  const resources = resourcesIn(template);
  const roles = ofType(resources, 'AWS::Lambda::Function').map(([, { Properties }]) =>
    target(Properties?.Role),
  );
  const ofFunctions = new Set(roles.flatMap((role) => [role, `${role}DefaultPolicy`]));
  const others = [...resources].filter(
    ([id, { Type }]) => !(notHere.test(Type) || ofFunctions.has(id)),
  );
  const types = Map.groupBy(others, ([, { Type }]) => Type.replace('AWS::', ''));
  const kinds = [...types].sort().map(([title, all]): Kind => {
    const parts = all.map(([name, resource]) => ({ name, lines: resourceLines(resource) }));
    return { title, parts };
  });
  const outputs = Object.entries(template.findOutputs('*')).flatMap(([id, { Value }]) =>
    linesOf(Value, id),
  );
  return [...kinds, { title: 'Outputs', parts: [{ name: 'Values', lines: outputs }] }];
}

interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}
type Resources = ReadonlyMap<string, Resource>;

function resourcesIn(template: Template): Resources {
  const all = Object.entries<Resource>(template.toJSON().Resources);
  return new Map(all.map(([id, resource]) => [plainId(id), resource]));
}

const ofType = (resources: Resources, type: string) =>
  [...resources].filter(([, { Type }]) => Type === type);

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

function resourceLines({ Type, DeletionPolicy, UpdateReplacePolicy, Properties }: Resource) {
  const { Tags, ...properties } = Properties ?? {};
  // The parameter by which commands know the stack is an object in JSON.
  const value =
    Type === 'AWS::SSM::Parameter' ? { Value: JSON.parse(plain(properties.Value)) } : {};
  return linesOf({ DeletionPolicy, UpdateReplacePolicy, ...properties, ...value });
}

/** These have tests of their own, or are for people to look at. */
const notHere =
  /^AWS::(?:Lambda::(?:Function|Permission)|ApiGatewayV2::(?:Route|Integration)|CloudWatch::Dashboard)$/;

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
