/** Resets a password on a deployed service that sends mails, and reads the mails. */
import { createLocalJWKSet, jwtVerify } from 'jose';
import { type ApiClient, logIn, register } from '../support/client.ts';
import { codeOf, registerWithFactor } from '../support/second-factor.ts';
import { until } from '../support/until.ts';
import type { Deployment } from './deployment.ts';
import { developed } from './development.ts';
import { type Place, portOf } from './place.ts';
import type { Proof } from './proof.ts';
import { rotateKey } from './rotation.ts';
import { deploy, development, synthesise, variant } from './stack.ts';
import { requireThat } from './step.ts';
import type { Template } from './template.ts';

const mails = { mailFrom: 'accounts@example.com', resetUrl: 'https://app.example.com/reset' };
const sessions = { sessionDays: 90, secondFactor: 'optional', tokenSigning: 'RS256' };
const settings = { ...development, ...mails, ...sessions };

/** These settings for rehearsals; in AWS the sender is another address. */
export const mailingSettings = settings;

/** The path in a URL of Lambda's API, up to the name of a function. */
const beforeName = '/2015-03-31/functions/';

/** In AWS the API of Lambda has a host of its own; here the host is the emulator. */
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

/** The emulator supports neither the resource nor the condition of SendEmail, and would refuse every mail. */
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

/** Verifies the domain, as an engineer does before the first mail. */
const verifyDomain = ({ call }: Place) =>
  call('sesv2', 'create_email_identity', { EmailIdentity: 'example.com' });

/** Directs all requests of functions to the emulator, and allows mails, which AWS would allow. */
export const atEmulator =
  (endpoint: string) =>
  (template: Template): Template =>
    allowSending(invokeAt(endpoint)(template));

/** Waits for the messages that the emulator has kept for an address, each as text. */
const keptFor = (
  place: Place,
  service: 'ses' | 'sqs',
  address: string,
): Promise<readonly string[]> =>
  until(async () => {
    const response = await fetch(
      `http://127.0.0.1:${portOf(place)}/_ministack/${service}/messages`,
    );
    const kept = JSON.stringify(await response.json()).split('"MessageId"');
    const found = kept.filter((one) => one.includes(address));
    return found.length > 0 && found;
  }, `There is no message in ${service} for ${address}`);

const requireStatus = ({ status, text }: { status: number; text: string }, wanted: number): void =>
  requireThat(status === wanted, `Not ${wanted}, but ${status} ${text}`);

const ask = async (api: ApiClient, email: string): Promise<void> =>
  requireStatus(await api('POST', '/api/password-resets', { json: { email } }), 202);

/** SES refuses: the message that could not be mailed is not lost, and contains no token. */
const keepUnsent = async ({ place, api }: Deployment): Promise<void> => {
  const { email } = await register(api);
  await ask(api, email);
  const [message = ''] = await keptFor(place, 'sqs', email);
  requireThat(!message.includes('token='), `There is a token in the queue: ${message}`);
};

/** Resets a password by a mailed link; the rules of links are tested elsewhere. */
const reset = async ({ place, api }: Deployment): Promise<void> => {
  const { email } = await register(api);
  await ask(api, email);
  const [mail = ''] = await keptFor(place, 'ses', email);
  const [, token] = /#token=([\w.-]+)/.exec(mail) ?? [];
  const json = { token, password: 'set by a mailed link' };
  requireStatus(await api('PUT', '/api/password-resets', { json }), 204);
  await logIn(api, { email, password: json.password });
};

/** Logs in with a second factor, whose secret KMS encrypts. */
const enterByFactor = async ({ api }: Deployment): Promise<string> => {
  const user = await registerWithFactor(api);
  const { secret, email, password } = user;
  requireStatus(await api('POST', '/api/login', { json: { email, password } }), 401);
  await logIn(api, { ...user, code: codeOf(secret, { ahead: 1 }) });
  return email;
};

const useFactor = async (deployment: Deployment): Promise<void> => {
  const { place } = deployment;
  const email = await enterByFactor(deployment);
  const notices = await keptFor(place, 'ses', email);
  requireThat(
    notices.some((one) => one.includes('Your second factor was changed')),
    `There is no notice of a second factor: ${notices}`,
  );
};

/** After the change from the secret to a key: only new tokens are valid, and other services can verify them. */
const verifyElsewhere = async ({ api, outputs }: Deployment, old: string): Promise<void> => {
  requireStatus(await api('GET', '/api/profile', { token: old }), 401);
  const { token } = await register(api);
  const { ApiUrl: issuer = '' } = outputs;
  const keys = createLocalJWKSet((await api('GET', '/.well-known/jwks.json')).body);
  await jwtVerify(token, keys, { issuer, audience: issuer, typ: 'at+jwt' });
  requireStatus(await api('GET', '/api/profile', { token }), 200);
};

/** Requests a mail to an address, and uses keys of KMS, in a stack that has changed to the settings above. */
export const useMailing = async (
  deployment: Deployment,
  { token, email }: { readonly token: string; readonly email: string },
): Promise<void> => {
  await verifyElsewhere(deployment, token);
  await register(deployment.api, { email });
  await ask(deployment.api, email);
  await enterByFactor(deployment);
};

/** Makes the stack send mails, and resets passwords; uses keys of KMS for tokens and second factors. */
export const rehearseReset = async (proof: Proof): Promise<undefined> => {
  const made = developed(proof);
  const { deployment } = made;
  const { place } = deployment;
  const assembly = await synthesise(place, 'mailing', settings);
  const { token } = await register(deployment.api);
  const refused = variant(assembly, 'refused', invokeAt(place.env.AWS_ENDPOINT_URL ?? ''));
  await verifyDomain(place);
  await deploy(refused, place);
  await verifyElsewhere(deployment, token);
  await keepUnsent(deployment);
  // SES in AWS refuses in the same way.
  made.assembly = variant(refused, 'sending', allowSending);
  await deploy(made.assembly, place);
  await reset(deployment);
  await useFactor(deployment);
};

/** Makes a key sign tokens, and rotates the key. */
export const rotateTokenKey = async (proof: Proof): Promise<string> => {
  const made = developed(proof);
  made.assembly = await synthesise(proof.place, 'keyed', { ...development, ...sessions });
  await deploy(made.assembly, proof.place);
  return rotateKey(made.deployment, made.admin);
};
