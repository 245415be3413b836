/** The client where much of a browser is missing, as in React Native. */
import { spawnSync } from 'node:child_process';
import { buildSync } from 'esbuild';
import { expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { uniqueEmail } from '../support/client.ts';
import { folderForThisTest } from '../support/folder.ts';

const service = await serviceForThisFile({ SESSION_DAYS: '90' }, {});

/** Globals of Node that React Native lacks, or that do not work there. */
const without = `
for (const name of ['TextDecoder', 'TextEncoder', 'navigator', 'structuredClone', 'BroadcastChannel']) {
  delete globalThis[name];
}
delete AbortSignal.timeout;
delete AbortSignal.any;
// Node's own fetch goes on using it.
globalThis.URL = new Proxy(URL, {
  construct(made, given) {
    const [, , caller] = new Error().stack.split('\\n');
    if (caller.includes('client.mjs')) throw new Error('not implemented');
    return new made(...given);
  },
});
`;

it('The client registers, refreshes and logs out without a document, TextDecoder, locks or URL', () => {
  const folder = folderForThisTest();
  const outfile = `${folder}/client.mjs`;
  const script = `
// Node loads its fetch, which needs what is deleted then.
await (await fetch('${service.url}/api/profile')).text();
${without}
const { createClient } = await import(${JSON.stringify(outfile)});
const kept = new Map();
const storage = {
  get: async (key) => kept.get(key),
  set: async (key, value) => void kept.set(key, value),
  remove: async (key) => void kept.delete(key),
};
const url = ${JSON.stringify(service.url)};
const accounts = createClient({ url, storage });
await accounts.ready;
const reasons = [];
accounts.onChange((user, reason) => reasons.push(reason));
const account = { name: 'Ädä', email: ${JSON.stringify(uniqueEmail())}, password: 'a long password' };
await accounts.register(account);
const [[key, text]] = kept;
// The client believes that the token has ended.
kept.set(key, JSON.stringify({ ...JSON.parse(text), ahead: 1e12 }));
const profile = await accounts.getProfile();
const response = await accounts.fetch(url + '/api/profile');
await accounts.logOut();
console.log(JSON.stringify({
  name: profile.data?.name, status: response.status, reasons,
  isRefreshed: text !== kept.get(key), size: kept.size,
}));`;
  buildSync({
    entryPoints: ['functions/client/index.ts'],
    bundle: true,
    format: 'esm',
    outfile,
  });

  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });

  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    name: 'Ädä',
    status: 200,
    reasons: ['read', 'loggedIn', 'loggedOut'],
    isRefreshed: true,
    size: 0,
  });
});
