import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { page, pageFile } from '../../lib/contract/schemas.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';

const exists = ({ console }: ServiceValues) => console === 'on';
const forAnyone = { exists, may: 'public' } as const;

export const openRoot = { route: 'GET /', ...forAnyone } as const satisfies Contract;

export const getPage = { route: 'GET /console', ...forAnyone } as const satisfies Contract;

export const getFile = { route: 'GET /console/{file}', ...forAnyone } as const satisfies Contract;

export const tag = 'Console';

export const descriptions: Descriptions = {
  openRoot: () => ({
    id: 'openRoot',
    summary: 'Be led to the console',
    success: { status: 302, description: 'It leads to `/console`.', headers: ['Location'] },
  }),

  getPage: () => ({
    id: 'getConsolePage',
    summary: 'Open the console',
    text: 'A page on which admins log in, and look at users and the audit trail.',
    success: page('Console'),
  }),

  getFile: () => ({
    id: 'getConsoleFile',
    summary: 'Get a file that the console loads',
    text: 'Compressed as `Accept-Encoding` allows. Clients may keep it for good.',
    success: pageFile('Console'),
  }),
};
