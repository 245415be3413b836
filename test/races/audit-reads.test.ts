import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { logIn } from '../support/client.ts';
import { startTestService } from '../support/service.ts';
import { scanAudit } from '../support/stored-items.ts';

describe('A hundred queries of the audit trail at the same time', () => {
  it('leave only one entry, although they go to two copies of the service', async () => {
    const shared = {
      AUDIT_DETAIL: 'full',
      JWT_SECRET: randomUUID() + randomUUID(),
      ADMIN_PASSWORD: 'pass-word',
      AUDIT_TABLE: `audit-${randomUUID()}`,
      USERS_TABLE: `users-${randomUUID()}`,
    };
    const services = [await startTestService(shared), await startTestService(shared)] as const;
    const token = await logIn(services[0].api, services[0].admin);
    const paths = Array.from(
      { length: 50 },
      (_, i) => `/api/admin/audit-logs?action=LOGIN&since=${2000 + i}-01-01`,
    );

    await Promise.all(
      paths.flatMap((path) => services.map(({ api }) => api('GET', path, { token }))),
    );

    const entries = await scanAudit(inject('engine'), shared.AUDIT_TABLE);
    expect(entries.filter(({ action }) => action === 'READ')).toHaveLength(1);
    await Promise.all(services.map((service) => service.stop()));
  });
});
