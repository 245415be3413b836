import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { named } from '../../lib/contract/schemas.ts';
import { described } from '../../lib/ground/validation.ts';

export const get = {
  route: 'GET /api/admin/settings',
  may: 'audit',
  storageFault: ['Error reading settings', 'err'],
} as const satisfies Contract;

export const tag = 'Audit trail';

export const descriptions: Descriptions = {
  get: () => ({
    id: 'getSettings',
    summary: 'Get the settings in force',
    text: 'All settings that change what the service responds or keeps. None is a secret, or names a resource.',
    success: {
      status: 200,
      description: 'The settings.',
      schema: named('Settings', v.object({ data: v.array(setting()) })),
      example: { data: [{ name: 'sessionDays', value: 90, default: 0 }] },
    },
  }),
};

function setting() {
  return named(
    'Setting',
    v.object({
      name: described(v.string(), 'As in infra/settings.md.'),
      value: value('The value in force; an empty text: there is none.'),
      default: value('The value of a development deployment that does not set it.'),
    }),
  );
}

function value(description: string) {
  return described(v.union([v.string(), v.number()]), description);
}
