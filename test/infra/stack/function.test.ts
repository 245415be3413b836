import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { auditPublisher, auditSealer, functions } from '../../../infra/uses.ts';
import {
  everything,
  functionsOf,
  idOf,
  production,
  resourcesOf,
  synthesise,
  target,
} from './template.ts';

type Settings = Readonly<Record<string, unknown>>;

const lambdas = (context: Settings) => resourcesOf(synthesise(context), 'AWS::Lambda::Function');

const longUrl = `https://accounts.example.com/${'a'.repeat(100)}`;

/** A reference, by a text as long as the ARN that takes its place. */
const asDeployed = (_: string, value: unknown) =>
  value instanceof Object && 'Ref' in value ? 'a'.repeat(100) : value;

describe('The functions', () => {
  it.each([
    ['by default', {}, []],
    ['with all settings', everything, [auditSealer, auditPublisher]],
  ])('are exactly the functions of the routes and of the background, %s', (_, context, others) => {
    expect([...lambdas(context).keys()].sort()).toEqual(
      [...functionsOf(context), ...others].map((each) => idOf(each, 'Function')).sort(),
    );
  });

  it('have variables of less than three quarters of the 4,096 bytes that Lambda allows', () => {
    const longest = { ...everything, resetUrl: longUrl, verifyUrl: longUrl };

    const bytes = [...lambdas(longest).values()].map(
      ({ Properties }) => JSON.stringify(Properties.Environment.Variables, asDeployed).length,
    );

    expect(Math.max(...bytes)).toBeLessThan(3072);
  });
});

describe('The in-memory variant', () => {
  it.each([
    [{}, 1],
    [{ v1ReservedConcurrency: 3 }, 3],
    [{ v1ReservedConcurrency: 'none' }, undefined],
  ])(
    'has as many instances, and so memories, as the setting says, and no other function has a limit: %j',
    (context, instances) => {
      for (const [id, { Properties }] of lambdas(context)) {
        expect(Properties.ReservedConcurrentExecutions, id).toBe(
          id === 'V1UsersFunction' ? instances : undefined,
        );
      }
    },
  );

  it('is not deployed if it is off, and neither are its routes', () => {
    const off = JSON.stringify(synthesise({ ...production, v1Users: 'off' }).toJSON());

    expect(off).not.toMatch(/V1UsersFunction|\/api\/v1/);
  });
});

describe('The roles of functions', () => {
  /** What each role may do with the tables, an action on a resource a line, with the patterns of keys. */
  const tablesFor = (context: Settings) =>
    [...resourcesOf(synthesise(context), 'AWS::IAM::Policy')].flatMap(
      ([policy, { Properties }]) => {
        const statements: readonly Readonly<Record<string, unknown>>[] =
          Properties.PolicyDocument.Statement;
        return statements.flatMap(({ Action, Resource, Condition = {} }) =>
          [Action as string].flat().flatMap((action) =>
            [Resource]
              .flat()
              .map((resource) => ({
                what: `${policy.replace('RoleDefaultPolicy', '')}: ${action} on ${target(resource)}`,
                keys: (Condition as Settings)['ForAllValues:StringLike'],
              }))
              .filter(({ what }) => /dynamodb:\w+ on \w+Table/.test(what)),
          ),
        );
      },
    );
  const ofTables = tablesFor(everything);

  it('have one statement for each action on a table, and no other statement widens it', () => {
    const all = ofTables.map(({ what }) => what);

    expect(all.length).toBeGreaterThan(100);
    expect(all.filter((what, at) => all.indexOf(what) !== at)).toEqual([]);
  });

  it('name the keys of the users table for each action', () => {
    const wide = ofTables.filter(({ what, keys }) => what.endsWith(' on UsersTable') && !keys);

    expect(wide).toEqual([]);
  });

  it('may write no session for users who must verify their address first', () => {
    const required = tablesFor({ ...everything, emailVerification: 'required' });
    const registering = required.filter(({ what }) => what.startsWith('AuthRegister:'));
    expect(JSON.stringify(registering)).not.toContain('sessions#*');
  });
});

const actionOf: Readonly<Record<string, string>> = {
  BatchGetItemCommand: 'dynamodb:BatchGetItem',
  DeleteCommand: 'dynamodb:DeleteItem',
  GetCommand: 'dynamodb:GetItem',
  GetItemCommand: 'dynamodb:GetItem',
  PutCommand: 'dynamodb:PutItem',
  PutItemCommand: 'dynamodb:PutItem',
  QueryCommand: 'dynamodb:Query',
  UpdateCommand: 'dynamodb:UpdateItem',
};

/** What is left of a function's code when what it does not use is taken out. */
const codeOf = async (entry: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    external: ['@aws-sdk/*'],
  });
  return outputFiles[0]?.text ?? '';
};

/** Commands that are of no table, and one that allows nothing by itself: its items do. */
const othersCommands = [
  'TransactWriteCommand',
  'GetSecretValueCommand',
  'SendEmailCommand',
  // Of the archive and keys.
  'GetObjectCommand',
  'ListObjectVersionsCommand',
  'PutObjectCommand',
  'GetPublicKeyCommand',
  'SignCommand',
];

/** The IAM actions for what code asks of DynamoDB. */
const actionsOf = (code: string): string[] => {
  // What several files import has a number after its name.
  const commands = [...code.matchAll(/new (\w+?Command)\d*\(/g)]
    .map(([, name = '']) => name)
    .filter((name) => !othersCommands.includes(name))
    .map((name) => actionOf[name] ?? name);
  const items = [...code.matchAll(/\b(Put|Update|Delete|ConditionCheck): /g)].map(
    ([, kind]) => `dynamodb:${kind}Item`,
  );
  return [...new Set([...commands, ...items])].sort();
};

/**
 * The patterns of keys that code makes, but for keys that are one item's. Of which kind a link is, its bundle
 * does not say: then it is what is allowed.
 */
const patternsOf = (code: string, allowed: ReadonlySet<string>): Set<string> =>
  new Set([
    ...[...code.matchAll(/"([\w#-]+#\*)"/g)].map(([, pattern = '']) => pattern),
    ...(code.includes('}#*`') ? ['reset#*', 'address#*'].filter((one) => allowed.has(one)) : []),
  ]);

describe('The code of a function', () => {
  it.each(functions)('$name calls exactly the actions that its role allows', async (definition) => {
    const { permissions } = definition;
    const actions = new Set(permissions.map(({ action }) => action));
    const keys = new Set(
      permissions.flatMap(({ keys = [] }) => keys.filter((key) => key.endsWith('#*'))),
    );

    const code = await codeOf(definition.entry);

    const whereKeysSign = functionsOf(everything).find(({ name }) => name === definition.name);
    expect(whereKeysSign?.uses.has('signing-secret'), 'secret').toBe(
      /(?:cursor|login|nonce)\.v1/.test(code),
    );
    expect(new Set(actionsOf(code)), 'its uses in infra/uses.ts').toEqual(actions);
    expect(patternsOf(code, keys), 'its uses in infra/uses.ts').toEqual(keys);
  });
});
