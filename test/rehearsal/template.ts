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
 * Changes the template of a stack in a folder that `cdk synth` wrote. The name under which the template is uploaded is
 * the hash of its content, and changes with it.
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

/** The emulator supports only alarms on one metric. The tests of the template check all that alarms watch. */
const watchOneMetric = (template: Template): void => {
  for (const [, { Properties }] of resourcesOf(template, 'AWS::CloudWatch::Alarm')) {
    if (!Properties.Metrics) continue;
    delete Properties.Metrics;
    const metric = { Namespace: 'AWS/Lambda', MetricName: 'Errors', Statistic: 'Sum' };
    Object.assign(Properties, { ...metric, Period: 300 });
  }
};

/** For the emulator, a reference to a secret is the secret's name. In AWS it is the ARN, and so is the attribute Id. */
const referToSecretsByArn = (template: Template): Template => {
  const secrets = new Set(
    resourcesOf(template, 'AWS::SecretsManager::Secret').map(([logicalId]) => logicalId),
  );
  return JSON.parse(JSON.stringify(template), (_, value) =>
    secrets.has(value?.Ref) ? { 'Fn::GetAtt': [value.Ref, 'Id'] } : value,
  );
};

/** Seconds from one run of the sealer to the next: few, so that nothing waits for minutes. */
export const sealInterval = '2';

/** All functions and callers share one machine, whose processors have other work than to hash passwords. */
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

/** The rehearsal runs the sealer by itself, so that no schedule may run it at the same time. */
const runSealerByHand = (template: Template): void => {
  for (const [, { Properties }] of resourcesOf(template, 'AWS::Events::Rule')) {
    Properties.ScheduleExpression = 'rate(1 day)';
  }
};

/** Leaves out the CDK's own function that empties a bucket before it is deleted: the emulator deletes full buckets. */
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

/** The actions whose statements have conditions on the content of requests to KMS and Secrets Manager. */
const ofRequests = [
  'kms:Sign',
  'kms:GetPublicKey',
  'kms:Encrypt',
  'kms:Decrypt',
  'secretsmanager:GetSecretValue',
];

/**
 * The emulator does not know conditions on the content of these requests and of requests to S3, and refuses them all.
 */
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

/** Changes the parts of a template that the emulator lacks or interprets differently from AWS. */
export const adaptToEmulator = (template: Template): Template => {
  leaveOutEmptying(template);
  runSealerByHand(template);
  dropConditions(template);
  watchOneMetric(template);
  shareOneMachine(template);
  return referToSecretsByArn(template);
};

/** Sets an environment variable to another value, in every function that has it. */
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

/** Removes every permission on tables from a function's role, to show that they are needed. */
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
