import { readFileSync } from 'node:fs';
import {
  Agent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { run } from './command.ts';
import { runFolder } from './workspace.ts';

/** Terminates TLS in front of the emulator, as all services of AWS do. */
export type Edge = Awaited<ReturnType<typeof startEdge>>;

export interface EdgeOptions {
  /** The port of the emulator. */
  readonly target: number;
  /** The `Host` that requests are sent with; absent: the one that each request names. */
  readonly host?: string;
  /** Responds to a request that must not be passed on. @returns whether it has responded */
  readonly refuse?: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;
  /** Waits until a request may be passed on. @returns a function to call when the request has its response */
  readonly admit?: (incoming: IncomingMessage) => Promise<() => void>;
  /** Whether a header of a response is passed on. */
  readonly keepsHeader?: (name: string, status: number) => boolean;
}

export const certificateFile = join(runFolder, 'certificate.pem');
const keyFile = join(runFolder, 'key.pem');

/** Makes a certificate for this machine's loopback address. */
export const makeCertificate = (): Promise<string> => {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', keyFile, '-out', certificateFile];
  const subject = ['-subj', '/CN=rehearsal', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const args = ['req', '-x509', '-days', '2', ...key, ...files, ...subject];
  return run('openssl', args);
};

/** Bytes: more than any gateway accepts, so that the gateway's own limit refuses a request. */
const maxHeaderSize = 256 * 1024;

const pairs = (rawHeaders: readonly string[]): [string, string][] =>
  rawHeaders.flatMap((name, i) => (i % 2 ? [] : [[name, rawHeaders[i + 1] ?? '']]));

/** Starts an edge on a port of its own; its requests reach the emulator as if they had come by TLS. */
export const startEdge = async (options: EdgeOptions) => {
  const { target, host, refuse, admit, keepsHeader = () => true } = options;
  // Avoids that one side closes an idle connection just when the other reuses it, because that request would fail.
  const agent = new Agent({ keepAlive: false });
  const keepAliveTimeout = 65_000;

  const forward = (incoming: IncomingMessage, outgoing: ServerResponse, done: () => void) => {
    const headers = { ...incoming.headers, 'x-forwarded-proto': 'https', ...(host && { host }) };
    const { method, url: path } = incoming;
    const sent = { host: '127.0.0.1', port: target, method, path, headers, agent };
    const upstream = httpRequest(sent, (answer) => {
      const { statusCode: status = 502, rawHeaders } = answer;
      const kept = pairs(rawHeaders).filter(([name]) => keepsHeader(name.toLowerCase(), status));
      outgoing.writeHead(status, kept.flat());
      answer.pipe(outgoing);
    });
    upstream.once('error', () => outgoing.destroy());
    outgoing.once('close', () => {
      upstream.destroy();
      done();
    });
    incoming.pipe(upstream);
  };

  const server = createServer(
    {
      cert: readFileSync(certificateFile),
      key: readFileSync(keyFile),
      maxHeaderSize,
      keepAliveTimeout,
    },
    async (incoming, outgoing) => {
      if (refuse?.(incoming, outgoing)) return;
      const done = (await admit?.(incoming)) ?? (() => undefined);
      if (outgoing.destroyed) return done();
      forward(incoming, outgoing, done);
    },
  );
  server.listen(0, '127.0.0.1');
  await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
};
