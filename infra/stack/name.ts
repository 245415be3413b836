import { Names, Stack, Token } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { SettingError } from '../deployment-settings.ts';
import { parameterOf } from '../parameter.ts';

/**
 * The name of a service, from which the names of its resources derive where CloudFormation gives them
 * none: the name of the stack of an `AccountsStack`; elsewhere with the path in the stack and a hash, so
 * that several fit into one stack, and no two are alike in a region of an account.
 */
export function nameOf(service: Construct): string {
  return Names.uniqueResourceName(service, {
    separator: '-',
    allowedSpecialCharacters: '-',
    maxLength: 128,
  });
}

/**
 * The name of the parameter of a service: the one that its props give, or else one of its path.
 * @throws {SettingError} where AWS does not allow it. The path's characters are not replaced, because the
 *   outcome could be the path of another service
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
