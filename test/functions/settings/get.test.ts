import { expect, it } from 'vitest';
import { serviceNames } from '../../../lib/ground/settings.ts';
import { serviceForThisFile } from '../../support/acceptance.ts';

const { api, adminToken: token } = await serviceForThisFile();

it('GET /api/admin/settings returns only the settings of the service, with value and default', async () => {
  const { status, body } = await api('GET', '/api/admin/settings', { token });

  const names = body.data.map(({ name }: { name: string }) => name);
  const kept = ['auditSeal', 'auditRetentionDays', 'auditArchiveDays', 'auditLockDays'];
  expect([status, names]).toEqual([200, [...serviceNames, ...kept]]);
  expect(body.data).toContainEqual({ name: 'accounts', value: 'open', default: 'open' });
  expect(body.data).toContainEqual({ name: 'sessionDays', value: 0, default: 0 });
  expect(body.data).toContainEqual({ name: 'mailFrom', value: '', default: '' });
  // The service on one machine always seals; a deployment by default does not.
  expect(body.data).toContainEqual({ name: 'auditSeal', value: 'on', default: 'off' });
});
