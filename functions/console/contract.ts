import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { page, pageFile } from '../../lib/contract/schemas.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';
import { hasPage, type LinkPage } from '../../lib/options/links/page.ts';

const forAnyone = { exists, may: 'public' } as const;

export const openRoot = { route: 'GET /', ...forAnyone } as const satisfies Contract;

export const getPage = { route: 'GET /console', ...forAnyone } as const satisfies Contract;

export const getResetPage = linkPage('reset');
export const getVerifyPage = linkPage('verify');
export const getInvitationPage = linkPage('invitation');

export const openEncodedLink = {
  route: 'GET /account/{page}',
  exists: (settings: ServiceValues) =>
    [getResetPage, getVerifyPage].some((one) => one.exists(settings)),
  may: 'public',
} as const satisfies Contract;

export const openAccount = {
  route: 'GET /.well-known/change-password',
  ...forAnyone,
} as const satisfies Contract;

export const getFile = {
  route: 'GET /console/{file}',
  exists: (settings: ServiceValues) =>
    [getPage, openEncodedLink].some((one) => one.exists(settings)),
  may: 'public',
} as const satisfies Contract;

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

  getResetPage: linkPageOf('getResetPage', 'Open the page that resets a password'),
  getVerifyPage: linkPageOf('getVerifyPage', 'Open the page that verifies an address'),
  getInvitationPage: linkPageOf('getInvitationPage', 'Open the page that sets the first password'),

  openEncodedLink: () => ({
    id: 'openEncodedLink',
    summary: 'Be led to the page of a mailed link',
    text: 'For a link whose `#` was encoded as `%23` on its way, so that all of it is a path.',
    success: {
      status: 302,
      description: 'It leads to the page, with the rest as the fragment.',
      headers: ['Location'],
    },
  }),

  openAccount: () => ({
    id: 'openAccount',
    summary: 'Be led to the page where one’s own password is changed',
    text: 'Password managers look for it.',
    success: {
      status: 302,
      description: 'It leads to the account page of the console.',
      headers: ['Location'],
    },
  }),

  getFile: () => ({
    id: 'getConsoleFile',
    summary: 'Get a file that the console loads',
    text: 'Compressed as `Accept-Encoding` allows. Clients may keep it for good.',
    success: pageFile('Console'),
  }),
};

function exists({ console }: ServiceValues) {
  return console === 'on';
}

// @__NO_SIDE_EFFECTS__
function linkPage(name: LinkPage) {
  const exists = (settings: ServiceValues) => hasPage(name, settings);
  return { route: `GET /account/${name}`, exists, may: 'public' } as const satisfies Contract;
}

// @__NO_SIDE_EFFECTS__
function linkPageOf(id: string, summary: string): Descriptions[string] {
  return () => ({ id, summary, text: 'Mailed links lead to it.', success: page('Link') });
}
