import { expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { mailSettings } from '../support/mailbox.ts';

const { api, adminToken: token } = await serviceForThisFile({
  SESSION_DAYS: '90',
  ...mailSettings,
});

it('GET /api/admin/settings has the values in force beside their defaults', async () => {
  const { body } = await api('GET', '/api/admin/settings', { token });

  expect(body.data).toContainEqual({ name: 'sessionDays', value: 90, default: 0 });
  expect(body.data).toContainEqual({
    name: 'mailFrom',
    value: mailSettings.MAIL_FROM,
    default: '',
  });
});
