import { expect, it, vi } from 'vitest';
import { record } from '../../../lib/audit/record.ts';

it('reports details that cannot be serialised, and does not throw', async () => {
  const errors = vi.spyOn(console, 'error').mockReturnValue();

  await record({ action: 'DELETE', result: 'SUCCESS', details: { count: 1n } });

  expect(errors.mock.calls.flat().join()).toContain('"event":"audit-entry-not-written"');
  errors.mockRestore();
});
