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
    summary: 'Redirect to the console',
    success: { status: 302, description: 'A redirect to `/console`.', headers: ['Location'] },
  }),

  getPage: () => ({
    id: 'getConsolePage',
    summary: 'Open the console',
    text: 'A page on which admins log in, manage users and read the audit trail.',
    success: page('Console'),
  }),

  getResetPage: linkPageOf('getResetPage', 'Open the page that resets a password'),
  getVerifyPage: linkPageOf('getVerifyPage', 'Open the page that verifies an address'),
  getInvitationPage: linkPageOf('getInvitationPage', 'Open the page that sets the first password'),

  openEncodedLink: () => ({
    id: 'openEncodedLink',
    summary: 'Redirect to the page of a mailed link',
    text: 'A mail gateway may encode the `#` of a link as `%23`, which makes the token a part of the path.',
    success: {
      status: 302,
      description: 'A redirect to the page, with the token in the fragment.',
      headers: ['Location'],
    },
  }),

  openAccount: () => ({
    id: 'openAccount',
    summary: 'Redirect to the page where users change their password',
    text: 'Password managers request this path.',
    success: {
      status: 302,
      description: 'A redirect to the account page of the console.',
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
  return () => ({ id, summary, text: 'Mailed links lead to this page.', success: page('Link') });
}
