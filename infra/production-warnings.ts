/** What whoever deploys stage production should know before it is done. */
import cdk from '../cdk.json' with { type: 'json' };
import {
  type DeploymentSettings,
  type Given,
  type Name,
  names,
  readSetting,
} from './deployment-settings.ts';
import production from './production.json' with { type: 'json' };

/** The consequences of settings that are missing, perhaps because `-c` was forgotten. */
const consequences = {
  alarmEmail: 'nobody will be notified of alarms',
  corsOrigins: 'every page may call the API',
  domainName: 'the API has no host name of its own',
  mailFrom: 'no mails are sent, and nobody can reset a password',
  emailVerification: 'users do not verify their addresses',
} as const satisfies Partial<Record<Name, string>>;

/** A line for each of them that is at its default, unless the file says that this is intended. */
const missingFrom = (file: Given, settings: DeploymentSettings): readonly string[] =>
  Object.entries(consequences).flatMap(([key, consequence]) => {
    const name = key as keyof typeof consequences;
    const value = settings[name];
    if (value !== readSetting(name, {}) || Object.hasOwn(file, name)) return [];
    return [`${name} is ${value || 'not set'}: ${consequence}`];
  });

/** Settings that each run needs, or that are meant for one. */
const forOneRun: readonly Name[] = ['stage', 'abandonAuditSeal'];

/** Settings that the next run has only if it is given them again. */
const lostWithout = (file: Given, settings: DeploymentSettings): readonly Name[] => {
  const kept = { ...file, ...cdk.context };
  return names.filter(
    (name) => !forOneRun.includes(name) && settings[name] !== readSetting(name, kept),
  );
};

/** Says that entries stay in the archive after the days for which nobody can delete them. */
const shortLock = ({ auditSeal, auditArchiveDays, auditLockDays }: DeploymentSettings) =>
  auditSeal !== 'off' && auditArchiveDays > auditLockDays
    ? [
        `auditArchiveDays=${auditArchiveDays} is more than auditLockDays=${auditLockDays}: after ${auditLockDays} days whoever has the permission can delete entries from the archive`,
      ]
    : [];

/** One line for each thing that whoever deploys stage production should know. */
export const productionWarnings = (
  settings: DeploymentSettings,
  file: Given = production,
): string[] => {
  if (settings.stage !== 'production') return [];
  const lost = lostWithout(file, settings);
  return [
    ...missingFrom(file, settings),
    ...shortLock(settings),
    ...(lost.length > 0
      ? [
          `the next deployment loses what is not in infra/production.json, unless -c gives it again: ${lost.join(', ')}`,
        ]
      : []),
  ].map((line) => `production: ${line}`);
};
