import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { endpoints } from '../../../functions/contracts.ts';
import { bundleFunctions } from '../../../infra/stack/bundling/bundle.ts';
import {
  auditPublisher,
  auditSealer,
  type FunctionDefinition,
  functions,
} from '../../../infra/uses.ts';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { toItem } from '../../../lib/audit/record.ts';
import { configFrom } from '../../../lib/ground/settings.ts';
import { bundlesIn } from '../../bench/cold/bundle.ts';
import {
  type ColdStart,
  coldStart,
  credentials,
  type Environment,
} from '../../bench/cold/cold-start.ts';
import { type Deployment, deploy } from '../../bench/cold/deployment.ts';
import { createPeople, firstCall } from '../../bench/cold/first-calls.ts';
import { startAwsArchive } from '../../support/aws-archive.ts';
import { uniqueEmail } from '../../support/client.ts';
import { gatewayEvent } from '../../support/event.ts';
import { startEventBus } from '../../support/event-bus.ts';
import { everySetting } from '../../support/every-setting.ts';
import { startLoopback } from '../../support/loopback.ts';
import { mailSettings, startMailbox, tokenIn } from '../../support/mailbox.ts';
import { newPasskey, passkeySettings } from '../../support/passkeys.ts';
import { engineClient } from '../../support/stored-items.ts';
import { functionsOf } from './template.ts';

const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
afterAll(() => rmSync(folder, { recursive: true }));

const pages = ['docs', 'console'];

const all = [...functions, auditSealer, auditPublisher];
const bundles = bundlesIn(folder, all, bundleFunctions(all, folder));

const find = <T extends { readonly name: string }>(all: readonly T[], wanted: string): T => {
  const found = all.find(({ name }) => name === wanted);
  if (!found) throw new Error(`There is no function ${wanted}`);
  return found;
};

/** The parts of Node that no function uses, and that a process has loaded nevertheless. */
const unused = ({ moduleLoadList }: ColdStart) =>
  moduleLoadList.filter((part) => /undici|webstreams/.test(part));

describe('a bundle, in a process like those of Lambda', () => {
  let deployment: Deployment;

  const start = (name: string, event: unknown, others: Environment = {}) => {
    const environment = deployment.environmentOf(find(all, name));
    return coldStart(find(bundles, name).file, event as never, { ...environment, ...others });
  };

  beforeAll(async () => {
    deployment = await deploy(inject('engine'), { hashCost: 4 });
    for (const event of createPeople(deployment.token)) await start('users-create', event);
  });
  afterAll(() => deployment.stop());

  it.each(functionsOf())(
    'responds to its first request without loading parts of Node that it never uses: $name',
    async ({ name }) => {
      const { example, event } = firstCall(name, deployment.token);

      const call = await start(name, event);

      expect(call.answer.statusCode, 'with what infra/uses.ts gives it').toBe(example.status);
      expect(unused(call)).toEqual([]);
      // Only pages unpack files; loading what does it takes some milliseconds.
      expect(call.moduleLoadList.includes('NativeModule zlib')).toBe(pages.includes(name));
    },
  );

  it('signs with the session of the role that Lambda gives in the environment', async () => {
    const before = deployment.secretRequests.length;

    await start('profile-get', firstCall('profile-get', deployment.token).event);

    const [request] = deployment.secretRequests.slice(before);
    expect(request?.authorization).toContain(`Credential=${credentials.accessKeyId}/`);
    expect(request?.['x-amz-security-token']).toBe(credentials.sessionToken);
  });

  it('resets a password by a mailed link, and signs its call of the mail function as Lambda requires', async () => {
    const mailbox = await startMailbox();
    onTestFinished(mailbox.stop);
    const mailing = { ...mailbox.environment, ...mailbox.handOver, ...mailSettings };
    const request = (method: string, json: object) =>
      gatewayEvent({ method, path: '/api/password-resets', json });
    const email = 'some@example.org';

    const asked = await start('password-resets-request', request('POST', { email }), mailing);
    const mailed = await start('send-mail', mailbox.messages[0], mailing);
    const json = {
      token: tokenIn(mailbox.mails[0] ?? { text: '', html: '' }),
      password: 'a new password',
    };
    const set = await start('password-resets-set', request('PUT', json), mailing);

    expect([asked.answer.statusCode, set.answer.statusCode]).toEqual([202, 204]);
    expect([asked, mailed, set].flatMap(unused)).toEqual([]);
    expect(mailbox.mails[0]?.to).toEqual([email]);
    // AWS Signature Version 4, with the role's session.
    expect(mailbox.headers[0]).toMatchObject({
      authorization: expect.stringMatching(
        new RegExp(
          `^AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/\\d{8}/us-east-1/lambda/aws4_request, SignedHeaders=[\\w;-]*host;[\\w;-]*x-amz-invocation-type[\\w;-]*, Signature=[\\da-f]{64}$`,
        ),
      ),
      'x-amz-invocation-type': 'Event',
      'x-amz-security-token': credentials.sessionToken,
    });
  });

  it.each(['ES256', 'EdDSA', 'RS256'] as const)(
    'adds a passkey with a key of %s that signs its own attestation, and logs in by it',
    async (algorithm) => {
      const passkey = newPasskey({ algorithm });
      const calls: ColdStart[] = [];
      const call = async (name: string, path: string, json: object, token?: string) => {
        const event = gatewayEvent({ path, json, token });
        const called = await start(name, event, passkeySettings);
        calls.push(called);
        return JSON.parse(called.answer.body ?? '');
      };
      const password = 'a long password';
      const user = { name: 'Ada', email: uniqueEmail(), password };

      const { token } = await call('auth-register', '/api/auth/register', user);
      const path = '/api/passkeys/options';
      const options = await call('passkeys', path, { currentPassword: password }, token);
      const made = { credential: passkey.make(options, { statement: 'own' }) };
      const added = await call('passkeys', '/api/passkeys', made, token);
      const challenge = await call('passkeys', '/api/login/passkey-options', {});
      const used = { credential: passkey.use(challenge) };
      const login = await call('passkeys', '/api/login/passkey', used);

      expect(added.credential_id).toBe(passkey.id);
      expect(login.message).toBe('Login successful');
      expect(calls.flatMap(unused)).toEqual([]);
    },
  );

  it('seals the audit table of the stack into its bucket, by its key, and shows the seal', async () => {
    const aws = await startAwsArchive();
    onTestFinished(aws.stop);
    const archive = {
      ...aws.environment,
      AUDIT_ARCHIVE_BUCKET: 'trail',
      AUDIT_SEAL_KEY: 'key',
      KMS_URL: aws.environment.AWS_ENDPOINT_URL_KMS ?? '',
    };

    await start(auditSealer.name, {}, archive);
    const { event } = firstCall('audit-seal-get', deployment.token);
    const shown = await start('audit-seal-get', event, archive);

    expect([...aws.objects.keys()]).toEqual(['audit-archive/9999999998.ndjson.gz']);
    expect(JSON.parse(shown.answer.body ?? '').newest).toMatchObject({ number: 1 });
    expect(unused(shown)).toEqual([]);
  });

  it('compares an entry with its line in the bucket', async () => {
    const aws = await startAwsArchive();
    onTestFinished(aws.stop);
    const url = aws.environment.AWS_ENDPOINT_URL_S3;
    const archive = {
      ...aws.environment,
      AUDIT_ARCHIVE_BUCKET: 'trail',
      AUDIT_ARCHIVE_URL: `${url}/trail`,
      AUDIT_SEAL_KEY: 'key',
      KMS_URL: url,
    };
    const action = { action: 'LOGIN', resource: 'users', result: 'SUCCESS' } as const;
    const entry = makeEntry(action, { now: new Date('2026-06-01T00:00:00.000Z') });
    const { AUDIT_TABLE } = deployment.environmentOf(auditSealer);
    const Item = toItem(entry, { writeId: 'a-write' });
    await engineClient(inject('engine')).send(new PutCommand({ TableName: AUDIT_TABLE, Item }));
    const path = `/api/admin/audit-seal/entries/${entry.id}`;
    const event = gatewayEvent({ method: 'GET', path, token: deployment.token });

    await start(auditSealer.name, {}, archive);
    const compared = await start(
      'audit-seal-entry',
      { ...event, pathParameters: { entry: String(entry.id) } },
      archive,
    );

    expect(JSON.parse(compared.answer.body ?? '')).toEqual({
      state: 'equal',
      file: 1,
      stored: entry,
      sealed: entry,
    });
    expect(unused(compared)).toEqual([]);
  });

  it('puts a record of the stream on the bus', async () => {
    const bus = await startEventBus();
    onTestFinished(bus.stop);
    const created_at = new Date().toISOString();
    const detail = { action: 'DELETE', resource: 'users', result: 'SUCCESS', created_at };
    const NewImage = Object.fromEntries(Object.entries(detail).map(([name, S]) => [name, { S }]));
    const dynamodb = {
      NewImage,
      SequenceNumber: '1',
      ApproximateCreationDateTime: Date.now() / 1000,
    };
    const records = { Records: [{ eventID: '1', eventName: 'INSERT', dynamodb }] };

    const published = await start(auditPublisher.name, records, bus.environment);

    expect(published.answer).toEqual({ batchItemFailures: [] });
    expect(bus.events).toMatchObject([{ type: 'users.DELETE', detail }]);
    expect(unused(published)).toEqual([]);
  });

  it('requires the header of CloudFront in a stack behind CloudFront', async () => {
    const secrets = await startLoopback((_request, _body, response) =>
      response.end(JSON.stringify({ SecretString: 'value' })),
    );
    onTestFinished(secrets.stop);
    const environment = { EDGE_SECRET_ID: 'edge', SECRETS_URL: secrets.url };
    const request = (headers: Readonly<Record<string, string>>) =>
      coldStart(
        find(bundles, 'v1-users').file,
        gatewayEvent({ method: 'GET', path: '/api/v1/users', headers }),
        environment,
      );
    const viewer = { 'cloudfront-viewer-address': '203.0.113.7:443' };

    const calls = [await request(viewer), await request({ ...viewer, 'x-origin-verify': 'value' })];

    expect(calls.map(({ answer }) => answer.statusCode)).toEqual([403, 200]);
    expect(calls.flatMap(unused)).toEqual([]);
  });
});

describe('the content of a bundle', () => {
  /** KiB. */
  const budgetOf = ({ permissions, uses }: FunctionDefinition) => {
    // What verifies credentials; the attestations of X.509 would be 239 KiB more.
    if (uses.has('passkeys')) return 370;
    if (permissions.length > 0) return 290;
    // The document describes every setting. All can sign the request for the header of CloudFront, and check settings.
    return uses.has('memory') ? 60 : 175;
  };

  it.each([...functions, auditPublisher])('stays within its limit: $name', (definition) => {
    const { bytes } = find(bundles, definition.name);

    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes / 1024).toBeLessThanOrEqual(budgetOf(definition));
  });

  it.each([
    ['docs', 550_000],
    ['console', 68_000],
  ] as const)('has the files of its page beside it, within their limit: %s', (name, limit) => {
    const files = join(dirname(find(bundles, name).file), 'static', name);
    const sizeOf = (suffix: string) =>
      readdirSync(files)
        .filter((file) => file.endsWith(suffix))
        .reduce((sum, file) => sum + statSync(join(files, file)).size, 0);

    for (const suffix of ['.br', '.gz']) {
      expect(sizeOf(suffix)).toBeGreaterThan(10_000);
      expect(sizeOf(suffix)).toBeLessThanOrEqual(limit);
    }
  });

  // esbuild escapes characters outside ASCII.
  const summaries = endpoints
    .map(({ describe: of }) => of(configFrom(everySetting)).summary)
    .filter((summary) => /^[ -~]+$/.test(summary));

  it.each(functions)(
    'contains descriptions of the document only in the bundle of the document: $name',
    ({ name }) => {
      const code = readFileSync(find(bundles, name).file, 'utf8');

      const found = summaries.filter((summary) => code.includes(summary));
      expect(found).toEqual(name === 'docs' ? summaries : []);
    },
  );

  it('contains no code that is only for the stack', () => {
    const isOfStack = (path: string) => /^infra\/(?!stack\/bundling\/)|\/uses\.ts$/.test(path);

    const carriers = bundles.filter(({ modules }) => modules.some(isOfStack));
    expect(carriers.map(({ name }) => name)).toEqual([]);
  });

  const carriersOf = (module: string): string[] =>
    bundles
      // Nobody waits for the sealer, which has the whole SDK.
      .filter(({ name }) => name !== auditSealer.name)
      .filter(({ modules }) => modules.some((path) => path.includes(`node_modules/${module}`)))
      .map(({ name }) => name);

  const namesOf = (uses: (definition: FunctionDefinition) => boolean): string[] =>
    [...functions, auditPublisher].filter(uses).map(({ name }) => name);

  it.each([
    ['bcryptjs/', namesOf(({ uses }) => uses.has('passwords'))],
    ['@aws-sdk/client-dynamodb/', namesOf(({ permissions }) => permissions.length > 0)],
    ['@aws-sdk/lib-dynamodb/', namesOf(({ permissions }) => permissions.length > 0)],
    // Links sign and verify nothing: they need the secret for the key of a count.
    [
      'jose/',
      namesOf(({ name, uses }) => uses.has('signing-secret') && name !== 'password-resets-set'),
    ],
    ['@aws-sdk/client-sesv2/', ['send-mail']],
  ])('contains %s exactly where it is used', (module, users) => {
    expect(carriersOf(module)).toEqual(users);
  });

  it.each([
    ['@aws-sdk/credential-provider-', []],
    ['@aws-sdk/client-secrets-manager/', []],
    ['@aws-sdk/nested-clients/', []],
    ['@aws-sdk/middleware-endpoint-discovery/', []],
    ['@smithy/core/dist-es/submodules/event-streams/', []],
  ])('never contains %s, because nothing uses it in Lambda', (module, users) => {
    expect(carriersOf(module)).toEqual(users);
  });
});
