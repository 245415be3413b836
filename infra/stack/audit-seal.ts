import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { variableOf } from '../../lib/ground/setting.ts';
import { settings } from '../../lib/ground/settings.ts';
import type { DeploymentSettings } from '../deployment-settings.ts';
import { auditSealer } from '../uses.ts';
import { kmsUrl, ServiceFunction, type SharedFunctionProps } from './function.ts';
import { areKept, removalOf } from './kept.ts';
import { nameOf } from './name.ts';
import { allowing } from './policy.ts';
import { placeholder } from './table.ts';

/**
 * Creates what seals the audit trail, if the settings turn the seal on, and allows functions to show its state.
 * @returns the function that seals, which is undefined while the seal is paused, and the outputs
 */
export function createAuditSeal(
  scope: Construct,
  settings: DeploymentSettings,
  { shared, functions }: { shared: SharedFunctionProps; functions: readonly ServiceFunction[] },
) {
  if (settings.auditSeal === 'off') return undefined;
  const kept = keptBy(scope, settings);
  const { bucket, key } = kept;
  for (const each of functions) permit(scope, settings, each, kept);
  const sealer = createSealer(scope, settings, { shared, kept });
  const outputs = { AuditArchiveBucketName: bucket.bucketName, AuditSealKeyArn: key.keyArn };
  return {
    sealer: settings.auditSeal === 'on' ? sealer : undefined,
    outputs: { ...outputs, AuditSeal: settings.auditSeal },
  };
}

type Kept = ReturnType<typeof keptBy>;

/**
 * The bucket and the key with which the trail is sealed: new ones, or the bucket and the key of an earlier stack.
 * @returns also the days for which objects are locked; 0: not at all
 */
function keptBy(scope: Construct, settings: DeploymentSettings) {
  const { auditArchiveBucketName: bucketName, auditSealKeyArn: keyArn } = settings;
  // A bucket that outlived its stack was made with a lock.
  if (bucketName && keyArn)
    return { ...takeOver(scope, bucketName, keyArn), lockDays: settings.auditLockDays };
  const bucket = createArchive(scope, settings);
  const key = new Key(scope, 'AuditSealKey', {
    description: `Signs the audit trail of ${nameOf(scope)}`,
    keySpec: KeySpec.ECC_NIST_EDWARDS25519,
    keyUsage: KeyUsage.SIGN_VERIFY,
    removalPolicy: removalOf(settings),
  });
  const lockDays = areKept(settings) ? settings.auditLockDays : 0;
  return { bucket, key, isTakenOver: false, lockDays };
}

/** Uses the bucket and the key of an earlier stack, whose chain is continued. */
function takeOver(scope: Construct, bucketName: string, keyArn: string) {
  const places = ['AuditArchive', 'AuditSealKey'].map((id) => new Construct(scope, id));
  const [ofBucket, ofKey] = places as [Construct, Construct];
  places.forEach(placeholder);
  return {
    bucket: s3.Bucket.fromBucketName(ofBucket, 'Bucket', bucketName),
    key: Key.fromKeyArn(ofKey, 'Key', keyArn),
    isTakenOver: true,
  };
}

/**
 * The bucket of the sealed entries, in which each object is written only once. In production it outlives the stack, with
 * objects that nobody can delete.
 */
function createArchive(scope: Construct, settings: DeploymentSettings): s3.Bucket {
  const { auditLockDays, auditArchiveDays } = settings;
  const keep = areKept(settings);
  const bucket = new s3.Bucket(scope, 'AuditArchive', {
    versioned: true,
    encryption: s3.BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
    lifecycleRules: leavesAfter(auditArchiveDays),
    ...(keep
      ? {
          ...(auditLockDays > 0 && {
            objectLockDefaultRetention: s3.ObjectLockRetention.compliance(
              Duration.days(auditLockDays),
            ),
          }),
          removalPolicy: RemovalPolicy.RETAIN,
        }
      : { removalPolicy: RemovalPolicy.DESTROY, autoDeleteObjects: true }),
  });
  bucket.addToResourcePolicy(
    new PolicyStatement({
      sid: 'WriteOnce',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['s3:PutObject'],
      resources: [bucket.arnForObjects('*')],
      conditions: { Null: { 's3:if-none-match': 'true' } },
    }),
  );
  // Without the policy, whoever may put objects could overwrite an object.
  if (keep) bucket.policy?.applyRemovalPolicy(RemovalPolicy.RETAIN);
  Validations.of(bucket).acknowledge({
    id: 'AwsSolutions-S1',
    reason:
      'Every object is written once, versioned and signed. Data events of CloudTrail, if they are on, show who reads it.',
  });
  return bucket;
}

/** The prefix of the names of objects: see lib/seal/archive.ts. */
const prefix = 'audit-archive/';

/**
 * Days for which an object is kept as an earlier version after the rule or somebody has deleted it. The sealer checks
 * each object within thirty days, and reports an object that somebody deleted.
 */
const earlierVersionDays = 31;

/** The rules that delete objects of the archive. @param days after which they are deleted; 0: never */
function leavesAfter(days: number): s3.LifecycleRule[] {
  return days === 0
    ? []
    : [
        {
          id: 'LeaveArchive',
          prefix,
          expiration: Duration.days(days),
          noncurrentVersionExpiration: Duration.days(earlierVersionDays),
        },
        { id: 'RemoveMarks', prefix, expiredObjectDeleteMarker: true },
      ];
}

function permit(
  scope: Construct,
  { auditArchiveDays }: DeploymentSettings,
  each: ServiceFunction,
  kept: Kept,
): void {
  const { lambda, definition } = each;
  if (definition.uses.has('settings.told')) {
    lambda.addEnvironment(variableOf('auditArchiveDays'), String(auditArchiveDays));
    lambda.addEnvironment(variableOf('auditLockDays'), String(kept.lockDays));
  }
  if (definition.uses.has('seal')) grantShowing(each, kept);
  if (definition.uses.has('seal.compare')) grantComparing(scope, each, kept);
  // From the ARN the function learns that there is a sealed trail; it may not use the key.
  if (definition.uses.has('seal.told')) {
    lambda.addEnvironment(variableOf('auditSealKey'), kept.key.keyArn);
  }
}

function grantShowing({ lambda }: ServiceFunction, kept: Kept): void {
  lambda.addEnvironment(variableOf('auditSealKey'), kept.key.keyArn);
  lambda.addEnvironment(variableOf('kmsUrl'), kmsUrl(kept.key.stack));
  lambda.addToRolePolicy(readingKey(kept));
}

function grantComparing(scope: Construct, each: ServiceFunction, kept: Kept): void {
  const { region, urlSuffix } = Stack.of(scope);
  const url = `https://s3.${region}.${urlSuffix}/${kept.bucket.bucketName}`;
  each.lambda.addEnvironment(variableOf('auditArchiveUrl'), url);
  for (const statement of readingStatements(kept)) each.lambda.addToRolePolicy(statement);
  acknowledgeObjects(scope, each, kept);
}

function readingKey({ key }: Kept): PolicyStatement {
  return allowing('kms:GetPublicKey', key.keyArn);
}

function createSealer(
  scope: Construct,
  { auditSeal, auditArchiveDays }: DeploymentSettings,
  { shared, kept }: { shared: SharedFunctionProps; kept: Kept },
) {
  const { bucket, key, isTakenOver, lockDays } = kept;
  const sealer = new ServiceFunction(scope, 'SealAudit', {
    ...shared,
    definition: auditSealer,
    scheduled: {
      timeout: Duration.minutes(15),
      environment: {
        [variableOf('auditSealInterval')]: settings.auditSealInterval.default,
        [variableOf('auditArchiveDays')]: String(auditArchiveDays),
        [variableOf('auditArchiveBucket')]: bucket.bucketName,
        [variableOf('auditSealKey')]: key.keyArn,
        ...(isTakenOver
          ? {
              [variableOf('auditArchiveTakenOver')]: 'yes',
              [variableOf('auditLockDays')]: String(lockDays),
            }
          : {}),
      },
    },
  });
  for (const statement of sealingStatements(kept)) sealer.lambda.addToRolePolicy(statement);
  acknowledgeObjects(scope, sealer, kept);
  new Rule(scope, 'SealAuditSchedule', {
    description: 'Has the audit trail sealed',
    enabled: auditSeal === 'on',
    schedule: Schedule.rate(Duration.seconds(Number(settings.auditSealInterval.default))),
    // The next run does the work of a failed run.
    targets: [new LambdaFunction(sealer.lambda, { retryAttempts: 0 })],
  });
  return sealer;
}

function acknowledgeObjects(scope: Construct, reader: ServiceFunction, kept: Kept): void {
  Validations.of(reader).acknowledge({
    id: `AwsSolutions-IAM5[Resource::${shownArn(scope, kept)}/${prefix}*]`,
    reason: 'The objects of the archive, whose names hold their numbers, are all below one prefix.',
  });
}

/**
 * The permissions of the sealer, except the permissions to read the audit table and to store the newest header in the
 * users table.
 */
function sealingStatements(kept: Kept): PolicyStatement[] {
  const { bucket, key, isTakenOver } = kept;
  return [
    ...readingStatements(kept),
    allowing('s3:PutObject', bucket.arnForObjects(`${prefix}*`)),
    allowing('kms:Sign', key.keyArn, {
      StringEquals: { 'kms:SigningAlgorithm': 'ED25519_SHA_512', 'kms:MessageType': 'RAW' },
    }),
    readingKey(kept),
    // To check whether objects are kept and locked as the settings say.
    ...(isTakenOver ? [allowing(comparing, bucket.bucketArn)] : []),
  ];
}

function readingStatements({ bucket }: Kept): PolicyStatement[] {
  return [
    // Every read names a version, so s3:GetObject is not needed.
    allowing('s3:GetObjectVersion', bucket.arnForObjects(`${prefix}*`)),
    // Without this permission, S3 responds with AccessDenied, not NotFound, for an object that was deleted. The
    // permission has no condition, because GetObject has no prefix.
    allowing('s3:ListBucket', bucket.bucketArn),
    allowing('s3:ListBucketVersions', bucket.bucketArn, { StringEquals: { 's3:prefix': prefix } }),
  ];
}

const comparing = ['s3:GetLifecycleConfiguration', 's3:GetBucketObjectLockConfiguration'];

/** The ARN of the bucket in the form that cdk-nag uses. */
function shownArn(scope: Construct, { bucket, isTakenOver }: Kept): string {
  const { logicalId } = (bucket.node.defaultChild ?? {}) as Partial<s3.CfnBucket>;
  if (!isTakenOver) return `<${Stack.of(scope).resolve(logicalId)}.Arn>`;
  const name = Stack.of(scope).resolve(bucket.bucketName);
  return `arn:<AWS::Partition>:s3:::${typeof name === 'string' ? name : `<${name.Ref}>`}`;
}
