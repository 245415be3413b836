import { Names } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

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
