/** Resets a password on a deployed service that sends mails, which are read back. */
import { CreateEmailIdentityCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { type ApiClient, logIn, register } from '../support/client.ts';
import { codeOf, registerWithFactor } from '../support/second-factor.ts';
import { until } from '../support/until.ts';
import type { Admin, Deployment } from './deployment.ts';
import type { Emulator } from './emulator.ts';
import { rotateKey } from './rotation.ts';
import { type Assembly, deploy, development, synthesise, variant } from './stack.ts';
import { requireThat, step } from './step.ts';
import type { Template } from './template.ts';
import { credentials, isLong, region } from './workspace.ts';

const mails = { mailFrom: 'accounts@example.com', resetUrl: 'https://app.example.com/reset' };
const sessions = { sessionDays: 90, secondFactor: 'optional', tokenSigning: 'RS256' };
const settings = { ...development, ...mails, ...sessions };

/** Where a URL of Lambda's API has the name of a function. */
const beforeName = '/2015-03-31/functions/';

/** In AWS the API of Lambda has a host of its own; here it is the emulator's. */
const invokeAt =
  (endpoint: string) =>
  (template: Template): Template => {
    for (const { Properties } of Object.values(template.Resources)) {
      const { Variables = {} } = (Properties.Environment ?? {}) as {
        Variables?: Record<string, { 'Fn::Join': [string, unknown[]] } | string>;
      };
      const url = Variables.MAIL_FUNCTION_URL;
      if (typeof url !== 'object') continue;
      const parts = url['Fn::Join'][1];
      const at = parts.findIndex((part) => typeof part === 'string' && part.includes(beforeName));
      parts.splice(0, at + 1, endpoint + beforeName);
    }
    return template;
  };

interface Statement {
  readonly Action: unknown;
  Resource: unknown;
  Condition?: unknown;
}

/** The emulator knows neither the resource of SendEmail nor its condition: it allows none of it. */
const allowSending = (template: Template): Template => {
  for (const { Type, Properties } of Object.values(template.Resources)) {
    if (Type !== 'AWS::IAM::Policy') continue;
    const { Statement } = Properties.PolicyDocument as { Statement: Statement[] };
    for (const statement of Statement.filter(({ Action }) => Action === 'ses:SendEmail')) {
      statement.Resource = '*';
      delete statement.Condition;
    }
  }
  return template;
};

/** As an engineer does before the first mail. */
const verifyDomain = async ({ env }: Emulator): Promise<void> => {
  const client = new SESv2Client({ region, endpoint: env.AWS_ENDPOINT_URL ?? '', credentials });
  await client.send(new CreateEmailIdentityCommand({ EmailIdentity: 'example.com' }));
  client.destroy();
};

/** Waits for what the emulator has kept for an address, each as text. */
const keptFor = (
  { port }: Emulator,
  service: 'ses' | 'sqs',
  address: string,
): Promise<readonly string[]> =>
  until(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/_ministack/${service}/messages`);
    const kept = JSON.stringify(await response.json()).split('"MessageId"');
    const found = kept.filter((one) => one.includes(address));
    return found.length > 0 && found;
  }, `There is no message in ${service} for ${address}`);

const requireStatus = ({ status, text }: { status: number; text: string }, wanted: number): void =>
  requireThat(status === wanted, `Not ${wanted}, but ${status} ${text}`);

const ask = async (api: ApiClient, email: string): Promise<void> =>
  requireStatus(await api('POST', '/api/password-resets', { json: { email } }), 202);

/** SES refuses: what was to be mailed is not lost, and has no token in it. */
const keepUnsent = async ({ emulator, api }: Deployment): Promise<void> => {
  const { email } = await register(api);
  await ask(api, email);
  const [message = ''] = await keptFor(emulator, 'sqs', email);
  requireThat(!message.includes('token='), `There is a token in the queue: ${message}`);
};

/** What is done with a link, and when, is for the tests of the bundles. */
const reset = async ({ emulator, api }: Deployment): Promise<void> => {
  const { email } = await register(api);
  await ask(api, email);
  const [mail = ''] = await keptFor(emulator, 'ses', email);
  const [, token] = /#token=([\w.-]+)/.exec(mail) ?? [];
  const json = { token, password: 'set by a mailed link' };
  requireStatus(await api('PUT', '/api/password-resets', { json }), 204);
  await logIn(api, { email, password: json.password });
};

/** A second factor, whose secret KMS encrypts. */
const useFactor = async ({ api, emulator }: Deployment): Promise<void> => {
  const user = await registerWithFactor(api);
  const { secret, email, password } = user;
  requireStatus(await api('POST', '/api/login', { json: { email, password } }), 401);
  await logIn(api, { ...user, code: codeOf(secret, { ahead: 1 }) });
  const notices = await keptFor(emulator, 'ses', email);
  requireThat(
    notices.some((one) => one.includes('Your second factor was changed')),
    `There is no notice of a second factor: ${notices}`,
  );
};

/** From the secret to a key: only new tokens are good, and others verify them. */
const verifyElsewhere = async ({ api, outputs }: Deployment, old: string): Promise<void> => {
  requireStatus(await api('GET', '/api/profile', { token: old }), 401);
  const { token } = await register(api);
  const { ApiUrl: issuer = '' } = outputs;
  const keys = createLocalJWKSet((await api('GET', '/.well-known/jwks.json')).body);
  await jwtVerify(token, keys, { issuer, audience: issuer, typ: 'at+jwt' });
  requireStatus(await api('GET', '/api/profile', { token }), 200);
};

/** Has the stack send mails, and resets passwords. @returns what is deployed then */
export const rehearseReset = async (deployment: Deployment, admin: Admin): Promise<Assembly> => {
  const { emulator } = deployment;
  const assembly = await step('Synthesise the stack with mails', () =>
    synthesise('mailing', settings),
  );
  const { token } = await register(deployment.api);
  const refused = variant(assembly, 'refused', invokeAt(emulator.env.AWS_ENDPOINT_URL ?? ''));
  await step('Deploy it, which adds functions, a queue and a key', async () => {
    await verifyDomain(emulator);
    await deploy(refused, emulator.env);
  });
  await step('Verify a token elsewhere, by the published key', () =>
    verifyElsewhere(deployment, token),
  );
  await step('Find a mail that SES refuses in the queue', () => keepUnsent(deployment));
  const sending = variant(refused, 'sending', allowSending);
  await step('Let the function send, as SES in AWS does', () => deploy(sending, emulator.env));
  await step('Reset a password by a mailed link', () => reset(deployment));
  await step('Enrol a second factor by a key of KMS, and log in by its code', () =>
    useFactor(deployment),
  );
  if (isLong) await rotateKey(deployment, admin);
  return sending;
};
