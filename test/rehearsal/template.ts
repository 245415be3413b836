import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
}

export interface Template {
  readonly Resources: Record<string, Resource>;
}

/** Resources of a type, with their logical ids. */
export const resourcesOf = ({ Resources }: Template, type: string): [string, Resource][] =>
  Object.entries(Resources).filter(([, { Type }]) => Type === type);

/**
 * Changes a stack's template in a folder that `cdk synth` wrote. The name under which it is
 * uploaded is the hash of its content, and changes with it.
 */
export const changeTemplate = (
  assembly: string,
  stack: string,
  change: (template: Template) => Template,
): void => {
  const file = (kind: string) => join(assembly, kind);
  const templateFile = file(`${stack}.template.json`);
  const synthesised = readFileSync(templateFile, 'utf8');
  const changed = JSON.stringify(change(JSON.parse(synthesised)), null, 1);
  writeFileSync(templateFile, changed);
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  for (const name of [`${stack}.assets.json`, 'manifest.json']) {
    const text = readFileSync(file(name), 'utf8');
    writeFileSync(file(name), text.replaceAll(hash(synthesised), hash(changed)));
  }
};

/** The emulator knows alarms on one metric only. The template's tests check all that alarms watch. */
const watchOneMetric = (template: Template): void => {
  for (const [, { Properties }] of resourcesOf(template, 'AWS::CloudWatch::Alarm')) {
    if (!Properties.Metrics) continue;
    delete Properties.Metrics;
    const metric = { Namespace: 'AWS/Lambda', MetricName: 'Errors', Statistic: 'Sum' };
    Object.assign(Properties, { ...metric, Period: 300 });
  }
};

/** For the emulator a reference to a secret is its name; in AWS it is its ARN, as is its Id. */
const referToSecretsByArn = (template: Template): Template => {
  const secrets = new Set(
    resourcesOf(template, 'AWS::SecretsManager::Secret').map(([logicalId]) => logicalId),
  );
  return JSON.parse(JSON.stringify(template), (_, value) =>
    secrets.has(value?.Ref) ? { 'Fn::GetAtt': [value.Ref, 'Id'] } : value,
  );
};

/** Seconds from one run of the sealer to the next, so that nothing waits for minutes. */
export const sealInterval = '2';

/** All functions and callers share one machine, whose processors have more to do than to hash. */
const shareOneMachine = (template: Template): void => {
  for (const [, { Properties }] of resourcesOf(template, 'AWS::Lambda::Function')) {
    const { Variables = {} } = (Properties.Environment ?? {}) as { Variables?: object };
    const cheap = 'BCRYPT_COST' in Variables ? { BCRYPT_COST: '4' } : {};
    const seal = 'AUDIT_SEAL_INTERVAL' in Variables ? { AUDIT_SEAL_INTERVAL: sealInterval } : {};
    Properties.Environment = { Variables: { ...Variables, ...cheap, ...seal } };
  }
};

interface Statement {
  readonly Sid?: string;
  readonly Action: unknown;
  Condition?: unknown;
}

/** Changes the statements of all policies of a type. */
const changeStatements = (
  template: Template,
  type: string,
  change: (statements: readonly Statement[]) => readonly Statement[],
): void => {
  for (const [, { Properties }] of resourcesOf(template, type)) {
    const document = Properties.PolicyDocument as { Statement: readonly Statement[] };
    document.Statement = change(document.Statement);
  }
};

/** The rehearsal itself runs the sealer, which no schedule then does beside it. */
const runSealerByHand = (template: Template): void => {
  for (const [, { Properties }] of resourcesOf(template, 'AWS::Events::Rule')) {
    Properties.ScheduleExpression = 'rate(1 day)';
  }
};

/** The CDK's own function that empties a bucket before it is deleted. The emulator deletes full ones. */
const leaveOutEmptying = (template: Template): void => {
  const isOfProvider = (text: string) => text.includes('CustomS3AutoDeleteObjects');
  for (const [logicalId, { Type }] of Object.entries(template.Resources)) {
    if (Type === 'Custom::S3AutoDeleteObjects' || isOfProvider(logicalId)) {
      delete template.Resources[logicalId];
    }
  }
  changeStatements(template, 'AWS::S3::BucketPolicy', (statements) =>
    statements.filter((statement) => !isOfProvider(JSON.stringify(statement))),
  );
};

/** Statements on what a request says to KMS and Secrets Manager. */
const ofRequests = [
  'kms:Sign',
  'kms:GetPublicKey',
  'kms:Encrypt',
  'kms:Decrypt',
  'secretsmanager:GetSecretValue',
];

/** Of what a request says to these and to S3 the emulator knows no conditions, and refuses all of them. */
const dropConditions = (template: Template): void => {
  changeStatements(template, 'AWS::S3::BucketPolicy', (statements) =>
    statements.filter(({ Sid }) => Sid !== 'WriteOnce'),
  );
  changeStatements(template, 'AWS::IAM::Policy', (statements) =>
    statements.map(({ Condition, ...statement }) =>
      Condition && !ofRequests.includes(String(statement.Action))
        ? { ...statement, Condition }
        : statement,
    ),
  );
};

/** Changes what the emulator lacks or reads otherwise than AWS. */
export const adaptToEmulator = (template: Template): Template => {
  leaveOutEmptying(template);
  runSealerByHand(template);
  dropConditions(template);
  watchOneMetric(template);
  shareOneMachine(template);
  return referToSecretsByArn(template);
};

/** Gives an environment variable another value, in every function that has it. */
export const withVariable =
  (name: string, value: string) =>
  (template: Template): Template => {
    for (const [, { Properties }] of resourcesOf(template, 'AWS::Lambda::Function')) {
      const { Variables } = Properties.Environment as { Variables: Record<string, unknown> };
      if (name in Variables) Variables[name] = value;
    }
    return template;
  };

/** Changes the properties of a function. */
export const withFunction =
  (name: string, change: (properties: Resource['Properties']) => void) =>
  (template: Template): Template => {
    const functions = resourcesOf(template, 'AWS::Lambda::Function');
    const found = functions.find(([logicalId]) => logicalId.startsWith(`${name}Function`));
    if (!found) throw new Error(`No function ${name} in the template`);
    change(found[1].Properties);
    return template;
  };

/** Takes every permission on tables from a function's role, to see that it matters. */
export const withoutTablePermissions =
  (functionName: string) =>
  (template: Template): Template => {
    const policies = resourcesOf(template, 'AWS::IAM::Policy');
    const found = policies.find(([logicalId]) => logicalId.startsWith(`${functionName}Role`));
    if (!found) throw new Error(`No policy of the role of ${functionName} in the template`);
    const document = found[1].Properties.PolicyDocument as { Statement: { Action: unknown }[] };
    document.Statement = document.Statement.filter(
      ({ Action }) => !JSON.stringify(Action).includes('dynamodb:'),
    );
    return template;
  };
