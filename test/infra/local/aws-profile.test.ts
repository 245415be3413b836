import { describe, expect, it } from 'vitest';
import { logIn } from '../../support/client.ts';
import { startTestService } from '../../support/service.ts';

describe('The service on one machine', () => {
  it('works in a shell with an AWS profile, which its engine does not use', async () => {
    const service = await startTestService({ AWS_PROFILE: 'of-aws', HOME: '/nonexistent' });

    const token = await logIn(service.api, service.admin);
    await service.stop();

    expect(token).toMatch(/^ey/);
  });
});
