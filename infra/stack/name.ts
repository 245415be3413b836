import { Names, Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { SettingError } from '../deployment-settings.ts';
import { parameterOf } from '../parameter.ts';

/**
 * The name of a service, from which the names of its resources derive if CloudFormation does not name them. In an
 * `AccountsStack`, this is the name of the stack. In other stacks, the path in the stack and a hash are appended, so
 * that services in one stack, or in one region of an account, have different names.
 */
export function nameOf(service: Construct): string {
  return Names.uniqueResourceName(service, {
    separator: '-',
    allowedSpecialCharacters: '-',
    maxLength: 128,
  });
}

/**
 * The name of the parameter of a service: the name in its props, or else a name made from its path.
 * @throws {SettingError} if AWS does not allow the name. Characters of the path are not replaced, because the result
 *   could be the path of another service
 */
export function parameterNameOf(service: Construct, given?: string): string {
  if (given !== undefined) {
    if (Token.isUnresolved(given) || isParameterName(given)) return given;
    throw new SettingError(
      'parameterName',
      'must be a path such as /shop/accounts: at most 15 names of letters, digits, dots, hyphens and underscores, of which the first does not begin with aws or ssm',
    );
  }
  const isTop = (each: unknown): each is Stack =>
    Stack.isStack(each) && !Token.isUnresolved(each.stackName);
  const { stackName } = service.node.scopes.findLast(isTop) ?? Stack.of(service);
  const name = parameterOf(stackName, Names.stackRelativeConstructPath(service));
  if (isParameterName(name)) return name;
  throw new SettingError('parameterName', `is required, because no parameter is called ${name}`);
}

function isParameterName(name: string) {
  return /^(?!\/(?:aws|ssm))(?:\/[\w.-]+){1,15}$/i.test(name);
}
