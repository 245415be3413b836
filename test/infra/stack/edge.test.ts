import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { everything, synthesise } from './template.ts';

it('A stack that is not behind CloudFront has nothing of the secret of CloudFront', () => {
  const { edge: _, ...others } = everything;

  expect(JSON.stringify(synthesise(others).toJSON())).not.toMatch(/edge_?secret/i);
});

/** The resources of the stack of the runbook. */
const distributed = () => {
  mkdirSync('.reports', { recursive: true });
  const folder = mkdtempSync('.reports/edge-');
  try {
    execFileSync(process.execPath, ['infra/recipes/edge.ts'], {
      env: { CDK_OUTDIR: folder, PATH: process.env.PATH },
    });
    const file = join(folder, 'accounts-edge.template.json');
    // biome-ignore lint/suspicious/noExplicitAny: the properties of any resource
    const { Resources }: { Resources: Record<string, { Type: string; Properties: any }> } =
      JSON.parse(readFileSync(file, 'utf8'));
    return Object.entries(Resources);
  } finally {
    rmSync(folder, { recursive: true });
  }
};
let resources: ReturnType<typeof distributed>;
beforeAll(() => {
  resources = distributed();
});
const ofType = (type: string) => resources.find(([, { Type }]) => Type === type) ?? [];

it('The distribution of the runbook adds the header, and passes on the address of the viewer', () => {
  const [, distribution] = ofType('AWS::CloudFront::Distribution');

  expect(distribution?.Properties.DistributionConfig).toMatchObject({
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

it('The limit of the runbook does not count requests from the addresses of a backend', () => {
  const [, acl] = ofType('AWS::WAFv2::WebACL');
  const [backends, addresses] = ofType('AWS::WAFv2::IPSet');
  const ofBackends = {
    IPSetReferenceStatement: { Arn: { 'Fn::GetAtt': [backends, 'Arn'] } },
  };
  expect(acl?.Properties.Rules).toMatchObject([
    {
      Action: { Block: {} },
      Statement: {
        RateBasedStatement: {
          AggregateKeyType: 'IP',
          ScopeDownStatement: { NotStatement: { Statement: ofBackends } },
        },
      },
    },
  ]);
  expect(addresses?.Properties).toMatchObject({
    Scope: 'CLOUDFRONT',
    Addresses: [expect.any(String)],
  });
});
