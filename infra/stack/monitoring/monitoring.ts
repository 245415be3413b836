import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../../deployment-settings.ts';
import { alarmTopicsOf } from './alarm-topic.ts';
import { createAlarms, type Watched } from './alarms.ts';
import { createDashboard } from './dashboard.ts';
import { createLogMetrics } from './metrics.ts';

/** Creates the metrics and alarms of the service, and in production a dashboard. */
export function createMonitoring(
  scope: Construct,
  settings: DeploymentSettings,
  {
    dataKey,
    ...parts
  }: Omit<Watched, 'logMetrics' | 'inProduction'> & { readonly dataKey: IKey | undefined },
) {
  const inProduction = settings.stage === 'production';
  const logged = { ...parts, inProduction };
  const watched = { ...logged, logMetrics: createLogMetrics(scope, logged) };
  const topics = alarmTopicsOf(scope, settings, dataKey);
  const alarms = createAlarms(scope, watched, topics);
  return { topics, dashboard: inProduction ? createDashboard(scope, watched, alarms) : undefined };
}
