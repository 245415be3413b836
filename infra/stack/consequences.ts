import { Annotations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { AccountsSettings, DeploymentSettings, Name } from '../deployment-settings.ts';
import { readSetting } from '../read-deployment-settings.ts';

/**
 * Annotates a service of stage production with the consequences of settings that were not chosen, and of choices that
 * cannot be undone. The CDK's command line prints the annotations.
 * @param given the settings that were chosen; their consequences are not annotated
 */
export function annotate(
  scope: Construct,
  settings: DeploymentSettings,
  given: AccountsSettings,
): void {
  if (settings.stage !== 'production') return;
  const annotations = Annotations.of(scope);
  for (const [name, message] of leftOpen(settings, given)) {
    annotations.addInfoV2(`accounts-service:${name}`, message);
  }
  for (const message of locks(settings, given)) {
    annotations.addWarningV2('accounts-service:auditLockDays', message);
  }
}

/** The consequences of default settings for a public service. */
const consequences = {
  alarmEmail: 'nobody will be notified of alarms',
  corsOrigins: 'every page may call the API',
  domainName: 'the API has no host name of its own',
  mailFrom: 'no mails are sent, and nobody can reset a password',
  emailVerification: 'users do not verify their addresses',
  console: 'everybody can open its page, which shows nothing before a login',
} as const satisfies Partial<Record<Name, string>>;

function leftOpen(settings: DeploymentSettings, given: AccountsSettings) {
  return (Object.keys(consequences) as (keyof typeof consequences)[])
    .filter((name) => settings[name] === readSetting(name, {}) && given[name] === undefined)
    .filter((name) => name !== 'alarmEmail' || !settings.alarmTopicArn)
    .map(
      (name) => [name, `${name} is ${settings[name] || 'not set'}: ${consequences[name]}`] as const,
    );
}

/** The warnings about the lock of the archive: that it cannot be undone, or that it is missing. */
function locks(
  { auditSeal, auditArchiveDays, auditLockDays: days }: DeploymentSettings,
  given: AccountsSettings,
): readonly string[] {
  if (auditSeal === 'off') return [];
  const open = 'a person with the permission can delete entries from the archive';
  if (days === 0) return [`auditLockDays is 0: ${open}`];
  const undone = `auditLockDays is ${days}: for ${days} days nobody, not even AWS, can delete a sealed entry; tables, keys and logs are protected, stay in their region, and outlive the stack; to try a deployment, set auditLockDays=0`;
  return [
    ...(given.auditLockDays === undefined ? [undone] : []),
    ...(auditArchiveDays > days
      ? [
          `auditArchiveDays=${auditArchiveDays} is more than auditLockDays=${days}: after ${days} days ${open}`,
        ]
      : []),
  ];
}
