/** The CDK application of a proving run: stacks that have its id in their names and tags. */
import { App } from 'aws-cdk-lib';
import { AccountsStack } from '../../infra/stack/accounts.ts';
import { tagOf } from './names.ts';

const app = new App();
const { run, name = 'development', ...settings } = app.node.getAllContext();
const tags = JSON.stringify(tagOf(run));
// The files in infra/deployments are not used: they describe the deployments of whoever runs the proof.
const stage = name === 'production' ? 'production' : 'development';
new AccountsStack(app, `accounts-proof-${run}-${name}`, { settings: { ...settings, stage, tags } });
