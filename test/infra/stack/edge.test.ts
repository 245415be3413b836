import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { everything, synthesise } from './template.ts';

it('A stack that is not behind CloudFront has nothing of the secret of CloudFront', () => {
  const { edge: _, ...others } = everything;

  expect(JSON.stringify(synthesise(others).toJSON())).not.toMatch(/edge_?secret/i);
});

it('The distribution of the runbook adds the header, and passes on the address of the viewer', () => {
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
