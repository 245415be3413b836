import { createHash } from 'node:crypto';

/**
 * The name of the parameter in AWS Systems Manager by which the operator's commands find a service.
 * @param path the path of the service in its stack. A service with a stack of its own has the path Default, which the
 *   CDK leaves out of ids
 */
export function parameterOf(stack: string, path = ''): string {
  const place = path.split('/').filter((part) => part !== '' && part !== 'Default');
  return ['/accounts', stack, ...place].join('/');
}

/** The hash of the setting `userAttributes`, which does not depend on the white space in its JSON. */
export function attributesHash(userAttributes: string): string {
  return createHash('sha256')
    .update(JSON.stringify(JSON.parse(userAttributes)))
    .digest('hex');
}
