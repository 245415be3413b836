import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { everything, functionsOf, idOf, resourcesOf, synthesise, target } from './template.ts';

const template = synthesise(everything);
const textOf = (type: string, id: string) =>
  JSON.stringify(resourcesOf(template, type).get(id)?.Properties);

describe('A stack behind CloudFront', () => {
  it.each(functionsOf(everything))(
    'lets $name read the secret of the header exactly where clients call it',
    (definition) => {
      const has = definition.routes.length > 0;
      const lambda = resourcesOf(template, 'AWS::Lambda::Function').get(
        idOf(definition, 'Function'),
      );
      const { EDGE_SECRET_ID, SECRETS_URL } = lambda?.Properties.Environment.Variables ?? {};

      expect(EDGE_SECRET_ID && [EDGE_SECRET_ID, SECRETS_URL].map(target)).toEqual(
        has ? ['EdgeSecret', 'https://secretsmanager.AWS::Region.AWS::URLSuffix/'] : undefined,
      );
      const policy = textOf('AWS::IAM::Policy', idOf(definition, 'Role', 'DefaultPolicy'));
      expect(policy.includes('EdgeSecret')).toBe(has);
      expect(policy.includes('SigningSecret')).toBe(definition.uses.has('secret'));
    },
  );

  it('makes the value of the header in Secrets Manager, and names it in an output', () => {
    const secret = resourcesOf(template, 'AWS::SecretsManager::Secret').get('EdgeSecret');

    expect(secret?.Properties.GenerateSecretString).toEqual({
      PasswordLength: 64,
      ExcludePunctuation: true,
    });
    expect(target(template.findOutputs('EdgeSecretArn').EdgeSecretArn?.Value)).toBe('EdgeSecret');
  });

  it('has no endpoint around its own host name', () => {
    expect(textOf('AWS::ApiGatewayV2::Api', 'Api')).toContain('"DisableExecuteApiEndpoint":true');
  });
});

it('A stack that is not behind CloudFront knows nothing of it', () => {
  const { edge: _, ...others } = everything;

  expect(JSON.stringify(synthesise(others).toJSON())).not.toMatch(/edge_?secret/i);
});

it('The distribution of the runbook adds the header, and passes on who the viewer is', () => {
  const runbooks = readFileSync('infra/runbooks.md', 'utf8');
  const [, code = ''] = /\n## CloudFront\n.*?```ts\n(.*?)```/s.exec(runbooks) ?? [];
  mkdirSync('.reports', { recursive: true });
  const folder = mkdtempSync('.reports/edge-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'edge.ts'), code);

  execFileSync(process.execPath, [join(folder, 'edge.ts')], {
    env: { CDK_OUTDIR: folder, PATH: process.env.PATH },
  });

  const { Resources } = JSON.parse(
    readFileSync(join(folder, 'accounts-edge.template.json'), 'utf8'),
  );
  const distribution = Object.entries<{ Properties: { DistributionConfig: object } }>(
    Resources,
  ).find(([id]) => id.startsWith('Distribution'))?.[1].Properties.DistributionConfig;
  expect(distribution).toMatchObject({
    Origins: [
      {
        CustomOriginConfig: { OriginProtocolPolicy: 'https-only' },
        DomainName: { Ref: 'DomainTarget' },
        OriginCustomHeaders: [{ HeaderName: 'x-origin-verify', HeaderValue: { Ref: 'Header' } }],
      },
    ],
    DefaultCacheBehavior: {
      // AllViewerAndCloudFrontHeaders-2022-06, and no caching.
      OriginRequestPolicyId: '33f36d7e-f396-46d9-90e0-52428a34d9dc',
      CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
    },
    WebACLId: expect.anything(),
  });
});
