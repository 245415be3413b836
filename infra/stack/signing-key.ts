import { Stack, Token, Validations } from 'aws-cdk-lib';
import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../deployment-settings.ts';
import type { Use } from '../permissions.ts';
import { kmsUrl, type ServiceFunction } from './function.ts';
import { removalOf } from './kept.ts';
import { nameOf } from './name.ts';
import { allowing } from './policy.ts';

/**
 * Creates the key that signs tokens until the first rotation, if tokens are signed with a key. A command of the
 * operator makes all further keys, and the aliases by which functions find these keys.
 * @param url the address of the API
 * @returns the variables by which functions and the command find the keys
 */
export function createSigningKey(
  scope: Construct,
  settings: DeploymentSettings,
  { functions, url }: { functions: readonly ServiceFunction[]; url: string },
): Readonly<Record<string, string>> {
  if (settings.tokenSigning === 'HS256') return {};
  const { keyArn } = new Key(scope, 'TokenSigningKey', {
    description: `Signs the tokens of ${nameOf(scope)}`,
    keySpec: KeySpec.RSA_2048,
    keyUsage: KeyUsage.SIGN_VERIFY,
    removalPolicy: removalOf(settings),
  });
  const names = `alias/${nameOf(scope)}/token-signing-`;
  const variables = { TOKEN_SIGNING_KEY: keyArn, TOKEN_KEYS: names, API_URL: url };
  const stack = Stack.of(scope);
  for (const each of functions.filter(({ definition }) => definition.uses.has('keys.read'))) {
    grant(stack, each, names, keyArn);
    for (const [name, value] of Object.entries({ ...variables, KMS_URL: kmsUrl(stack) })) {
      each.lambda.addEnvironment(name, value);
    }
  }
  return variables;
}

/** The actions on keys that the uses of a function allow, and their conditions. */
const permissions: readonly (readonly [Use, string, Readonly<Record<string, string>>])[] = [
  ['keys.read', 'kms:GetPublicKey', {}],
  [
    'keys.sign',
    'kms:Sign',
    { 'kms:SigningAlgorithm': 'RSASSA_PKCS1_V1_5_SHA_256', 'kms:MessageType': 'DIGEST' },
  ],
];

/**
 * Allows what a function does with the first key, and with any key that one of the three aliases names. A permission is
 * for all three, because KMS takes minutes to notice that an alias was moved.
 */
function grant(stack: Stack, each: ServiceFunction, names: string, firstKey: string): void {
  const aliases = ['next', 'current', 'previous'].map((stage) => names + stage);
  const arnOf = (resource: string) => stack.formatArn({ service: 'kms', resource });
  const leading = { 'ForAnyValue:StringEquals': { 'kms:ResourceAliases': aliases } };
  for (const [use, action, equal] of permissions) {
    if (!each.definition.uses.has(use)) continue;
    const conditions = Object.keys(equal).length > 0 ? { StringEquals: equal } : {};
    // The aliases are included, so that KMS reports a missing alias as not found.
    const keys = [firstKey, ...aliases.map(arnOf)];
    each.lambda.addToRolePolicy(allowing(action, keys, conditions));
    each.lambda.addToRolePolicy(allowing(action, arnOf('key/*'), { ...conditions, ...leading }));
  }
  Validations.of(each).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:kms:${shown(stack.region, 'Region')}:${shown(stack.account, 'AccountId')}:key/*]`,
    reason: 'A condition allows only keys to which an alias of this service leads.',
  });
}

/**
 * A part of an ARN in the form that cdk-nag uses. If the stack is not bound to an account or a region, the part is a
 * placeholder.
 */
function shown(part: string, name: string) {
  return Token.isUnresolved(part) ? `<AWS::${name}>` : part;
}
