/** The token of a mailed link, read in a page whose address is given. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { readLink } from '../../functions/client/index.ts';

it.each([
  ['#token=%zz', null],
  ['#token=abc&email=ada%zz', { token: 'abc' }],
])('Of the link %s, which is not encoded as it should be, the rest is read', (hash, link) => {
  const replaceState = vi.fn();
  vi.stubGlobal('location', { hash, pathname: '/reset', search: '', href: 'https://a.example' });
  vi.stubGlobal('history', { state: null, replaceState });
  onTestFinished(() => void vi.unstubAllGlobals());

  expect(readLink()).toEqual(link);
  expect(replaceState).toHaveBeenCalledTimes(link ? 1 : 0);
});
