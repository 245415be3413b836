import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { auditSealer, type FunctionDefinition, functions } from '../../../infra/routes.ts';
import { backgroundBundling, bundling } from '../../../infra/stack/bundling/options.ts';
import { bundle } from '../../bench/cold/bundle.ts';
import { coldStart, credentials } from '../../bench/cold/cold-start.ts';
import { type Deployment, deploy } from '../../bench/cold/deployment.ts';
import { createPeople, firstCall } from '../../bench/cold/first-calls.ts';
import { startAwsArchive } from '../../support/aws-archive.ts';
import { functionsOf } from './template.ts';

const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
afterAll(() => rmSync(folder, { recursive: true }));

const sources = functions.map(({ name, entry }) => ({ name, entry, bundling }));
const bundles = bundle(sources, folder);

const find = <T extends { readonly name: string }>(all: readonly T[], wanted: string): T => {
  const found = all.find(({ name }) => name === wanted);
  if (!found) throw new Error(`There is no function ${wanted}`);
  return found;
};

describe('a bundle, in a process like those of Lambda', () => {
  let deployment: Deployment;

  const invoke = (name: string, event = firstCall(name, deployment.token).event) => {
    const environment = deployment.environmentOf(find(functions, name));
    return coldStart(find(bundles, name).file, event, environment);
  };

  beforeAll(async () => {
    deployment = await deploy(inject('engine'), { hashCost: 4 });
    for (const event of createPeople(deployment.token)) await invoke('users-create', event);
  });
  afterAll(() => deployment.stop());

  it.each(functionsOf())(
    'responds to its first request without what it never uses of Node: $name',
    async ({ name }) => {
      const { example, event } = firstCall(name, deployment.token);

      const { answer, moduleLoadList } = await invoke(name, event);

      expect(answer.statusCode).toBe(example.status);
      expect(moduleLoadList.filter((part) => /undici|webstreams/.test(part))).toEqual([]);
    },
  );

  it("signs with the role's session, which Lambda gives in the environment", async () => {
    const before = deployment.secretRequests.length;

    await invoke('profile');

    const [request] = deployment.secretRequests.slice(before);
    expect(request?.authorization).toContain(`Credential=${credentials.accessKeyId}/`);
    expect(request?.['x-amz-security-token']).toBe(credentials.sessionToken);
  });
});

describe('the bundle of the sealer, in a process like those of Lambda', () => {
  it('seals the audit table of the stack into its bucket, by its key', async () => {
    const [sealer] = bundle([{ ...auditSealer, bundling: backgroundBundling }], folder);
    const deployment = await deploy(inject('engine'));
    const aws = await startAwsArchive();
    const archive = { AUDIT_ARCHIVE_BUCKET: 'trail', AUDIT_SEAL_KEY: 'key' };
    const environment = {
      ...deployment.environmentOf(auditSealer),
      ...aws.environment,
      ...archive,
    };

    await coldStart(sealer?.file ?? '', {} as never, environment);

    const [entries, digest] = [...aws.objects.keys()];
    expect(digest).toBe('audit-archive/00000101T000000000Z.digest.json');
    expect(entries).toMatch(/^audit-archive\/00000101T000000000Z\.[0-9a-f]{64}\.ndjson\.gz$/);
    await deployment.stop();
    await aws.stop();
  });
});

describe('the content of a bundle', () => {
  /** Kilobytes, of 1,000 bytes. */
  const budgetOf = ({ permissions, inMemory }: FunctionDefinition) => {
    if (permissions.length > 0) return 290;
    return inMemory ? 22 : 80;
  };

  it.each(functions)('stays within the budget: $name', (definition) => {
    const { bytes } = find(bundles, definition.name);

    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes / 1000).toBeLessThanOrEqual(budgetOf(definition));
  });

  const carriersOf = (module: string): string[] =>
    bundles
      .filter(({ modules }) => modules.some((path) => path.includes(`node_modules/${module}`)))
      .map(({ name }) => name);

  const namesOf = (uses: (definition: FunctionDefinition) => boolean): string[] =>
    functions.filter(uses).map(({ name }) => name);

  it.each([
    ['bcryptjs/', namesOf(({ variables }) => variables.includes('BCRYPT_COST'))],
    ['@aws-sdk/client-dynamodb/', namesOf(({ permissions }) => permissions.length > 0)],
    ['@aws-sdk/lib-dynamodb/', namesOf(({ permissions }) => permissions.length > 0)],
    ['@aws-sdk/client-secrets-manager/', namesOf(({ signingSecret }) => signingSecret)],
    ['jose/', namesOf(({ signingSecret }) => signingSecret)],
    [
      '@smithy/',
      namesOf(({ permissions, signingSecret }) => permissions.length > 0 || signingSecret),
    ],
  ])('holds %s exactly where it is used', (module, users) => {
    expect(carriersOf(module)).toEqual(users);
  });

  it.each([
    '@aws-sdk/credential-provider-',
    '@aws-sdk/nested-clients/',
    '@aws-sdk/middleware-endpoint-discovery/',
    '@smithy/core/dist-es/submodules/event-streams/',
  ])('never holds %s, which nothing uses in Lambda', (module) => {
    expect(carriersOf(module)).toEqual([]);
  });
});
