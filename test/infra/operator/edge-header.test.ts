import { describe, expect, it } from 'vitest';
import { operate, operatedServiceForThisFile, operatorEntry } from '../../support/operator.ts';
import { arn, awsForThisTest } from './aws.ts';

const service = await operatedServiceForThisFile();

describe('edge-header', () => {
  it('prints only the value that is valid for longest, and leaves an entry', async () => {
    const { environment } = await awsForThisTest(service, { EdgeSecretArn: 'arn:edge' });

    const { status, stdout } = await operate(['edge-header', '--stack', 'a'], { environment });

    expect([status, stdout]).toEqual([0, `${'f'.repeat(64)}\n`]);
    expect(await service.entries()).toMatchObject([
      operatorEntry('edge-header', {
        action: 'READ',
        resource: 'edge-header',
        resource_id: null,
        details: { operator: arn },
      }),
    ]);
  });

  it('says so if a service is not behind CloudFront', async () => {
    const { status, stderr } = await service.operate(['edge-header']);

    expect([status, stderr]).toEqual([
      1,
      'This service is not behind CloudFront: see the setting edge.\n',
    ]);
  });
});
