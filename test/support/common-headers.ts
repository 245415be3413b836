import { expect } from 'vitest';
import type { ApiAnswer } from './client.ts';

/** How long responses that are neither errors nor redirects may be cached, by the beginning of their path. */
const kept: readonly (readonly [path: RegExp, control: string])[] = [
  [/^\/(docs|console)\/./, 'public, max-age=31536000, immutable'],
  [/^\/(openapi\.json|docs|console|account\/)/, 'no-cache'],
  [/^\/\.well-known\/(openid|jwks)/, 'public, max-age=300'],
];

/** Expects the headers that each response has. @param path the path of the request */
export const expectCommonHeaders = (path: string, { status, headers, text }: ApiAnswer): void => {
  const isKept = status < 400 && status !== 302;
  const [, control = 'no-store'] = kept.find(([own]) => isKept && own.test(path)) ?? [];
  expect(headers.get('cache-control')).toBe(control);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('strict-transport-security')).toMatch(/^max-age=31536000/);
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-request-id')).toMatch(/^\S{8,}$/);
  // A gateway may name a content type even if there is no body.
  if (status === 204) expect(headers.get('content-type')).toBeNull();
  else if (text) {
    expect(headers.get('content-type')).toMatch(/^(application\/json|text\/\w+); charset=utf-8$/);
  }
  expect(headers.has('error-code')).toBe(status >= 400);
  expect(headers.has('x-powered-by')).toBe(false);
};
