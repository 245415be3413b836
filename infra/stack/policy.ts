import { PolicyStatement } from 'aws-cdk-lib/aws-iam';

type OneOrSeveral = string | readonly string[];

/** A statement that allows actions on resources. @param conditions absent: under all conditions */
export function allowing(
  actions: OneOrSeveral,
  resources: OneOrSeveral,
  conditions: Readonly<Record<string, object>> = {},
): PolicyStatement {
  return new PolicyStatement({
    actions: [actions].flat(),
    resources: [resources].flat(),
    conditions,
  });
}
