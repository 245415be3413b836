/**
 * Recognises requests that have come through CloudFront (infra/runbooks.md, CloudFront): only CloudFront knows the
 * value of the origin header. For these requests, it states the address of the viewer.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { DomainError, namedError } from '../ground/errors.ts';
import { cached } from '../keys/cache.ts';
import { readSecretValue } from '../keys/signed-request.ts';
import type { IncomingEvent, Middleware } from './request.ts';

/** Milliseconds after which the secret is read again, so that a new value is known by then. */
const refreshInterval = 300_000;

/** The digests of the valid values. There are two while a new value replaces the old one. */
const valuesInForce = /* @__PURE__ */ cached(readValues, {
  lifetime: refreshInterval,
  event: 'edge-secret-not-read',
});

/**
 * If the service is behind CloudFront, refuses all requests that have not come through CloudFront with FORBIDDEN, and
 * makes the viewer's address the source address of all other requests. Otherwise it does nothing.
 */
export function fromEdge(): Middleware {
  const fromEdgeBefore: NonNullable<Middleware['before']> = async ({ event }) => {
    if (process.env.EDGE_SECRET_ID) await believeCloudFront(event);
  };

  return { before: fromEdgeBefore };
}

/**
 * The address in the header CloudFront-Viewer-Address, whose value is an address and a port: `192.0.2.1:443`,
 * `2001:db8:0:0:0:0:0:1:443`.
 * @returns undefined for anything else
 */
export function viewerAddress(header = ''): string | undefined {
  const [, bracketed, plain = ''] =
    /^(?:\[([\da-f:.]+)\]|([\da-f:.]+)):\d{1,5}$/i.exec(header) ?? [];
  const address = bracketed ?? plain;
  return isIP(address) ? address : undefined;
}

const originHeader = 'x-origin-verify';

async function believeCloudFront(event: IncomingEvent): Promise<void> {
  const { [originHeader]: given = '', 'cloudfront-viewer-address': viewer } = event.headers;
  const values = await valuesInForce();
  const hashed = digest(given);
  if (!values.some((value) => timingSafeEqual(value, hashed))) throw new DomainError('FORBIDDEN');
  const address = viewerAddress(viewer);
  if (!address) throw namedError('NoViewerAddress');
  event.requestContext.http.sourceIp = address;
}

/** All digests have the same length, which a comparison in constant time requires. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

async function readValues(): Promise<readonly Buffer[]> {
  const { EDGE_SECRET_ID = '' } = process.env;
  const { SecretString: text = '' } = await readSecretValue(EDGE_SECRET_ID, 'AWSCURRENT');
  return text.split(/\s+/).filter(Boolean).map(digest);
}
