import { describe } from 'vitest';
import { describeEveryEndpoint } from '../support/every-endpoint.ts';
import { everySetting } from '../support/every-setting.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';

describe.each<[string, Readonly<Record<string, string>>]>([
  ['With each setting that adds endpoints', everySetting],
  [
    'Where accounts are private, entries full, and there are sessions,',
    { ACCOUNTS: 'private', AUDIT_DETAIL: 'full', SESSION_DAYS: '90' },
  ],
])('%s', async (_, settings) => {
  await describeEveryEndpoint(await proxiedServiceForThisFile(settings));
});
