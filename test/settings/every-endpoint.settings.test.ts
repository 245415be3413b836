import { describe } from 'vitest';
import { describeEveryEndpoint } from '../support/every-endpoint.ts';
import { everySetting } from '../support/every-setting.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';

describe('With each setting that adds endpoints', async () => {
  // Without RESET_URL the service also has pages of its own.
  const settings = { ...everySetting, RESET_URL: '' };
  await describeEveryEndpoint(await proxiedServiceForThisFile(settings));
});

describe('With private accounts, full entries and sessions,', async () => {
  const settings = { ACCOUNTS: 'private', AUDIT_DETAIL: 'full', SESSION_DAYS: '90' };
  await describeEveryEndpoint(await proxiedServiceForThisFile(settings), { onlyOwners: true });
});
