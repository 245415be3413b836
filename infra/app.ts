/** The CDK application: `npx cdk synth`, `npx cdk deploy -c stage=production`. */
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readDeploymentSettings, SettingError } from './deployment-settings.ts';
import { productionWarnings } from './production-warnings.ts';
import { ServiceStack } from './stack/service-stack.ts';

try {
  const app = new App();
  const settings = readDeploymentSettings(app.node.getAllContext());
  new ServiceStack(app, `accounts-${settings.stage}`, settings);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const line of productionWarnings(settings)) console.error(line);
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
