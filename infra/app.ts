/** The CDK application: `npx cdk synth`, `npx cdk deploy -c name=production`. */
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readDeployment } from './deployment.ts';
import { SettingError } from './deployment-settings.ts';
import { AccountsStack } from './stack/accounts.ts';

try {
  const app = new App();
  // The CDK's command line sets this variable to the account of its credentials.
  const { CDK_DEFAULT_ACCOUNT: credentials } = process.env;
  const deployment = readDeployment(app.node.getAllContext(), credentials);
  const { name, place: env, settings, notice } = deployment;
  new AccountsStack(app, `accounts-${name}`, { env, settings });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  if (notice) console.error(`${name}: ${notice}`);
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
