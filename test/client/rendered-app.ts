/**
 * A small app whose pages a server renders, as its author writes one by functions/client/README.md. Its page says who
 * is logged in, and has the forms of a login and a logout. It is not part of the package.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll } from 'vitest';
import {
  type Opened,
  type SessionCookies,
  type SessionCookiesOptions,
  sessionCookies,
} from '../../functions/client/server.ts';

export interface RenderedApp {
  readonly origin: string;
  readonly sessions: SessionCookies;
  /** Called before a response is sent, with the path: it may delay or lose the response. */
  hold: (path: string) => Promise<'lost' | undefined>;
}

/** Serves the app for the tests of one file. @param options besides its origin */
export const renderedAppForThisFile = async (
  options: Omit<SessionCookiesOptions, 'origin'>,
): Promise<RenderedApp> => {
  const server = createServer({ keepAliveTimeout: 600_000 });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const sessions = sessionCookies({ ...options, origin });
  const app: RenderedApp = { origin, sessions, hold: async () => undefined };
  server.on('request', async (incoming, outgoing) => {
    const response = await respond(sessions, await requestOf(incoming), options.url);
    if ((await app.hold(incoming.url ?? '')) === 'lost') return incoming.socket.destroy();
    outgoing.statusCode = response.status;
    outgoing.setHeaders(response.headers);
    return outgoing.end(await response.text());
  });
  return app;
};

/** As behind a proxy: the address has another origin than the browser's. */
const requestOf = async (incoming: IncomingMessage): Promise<Request> => {
  const { method = 'GET', url = '/' } = incoming;
  const headers = new Headers(incoming.headers as Record<string, string>);
  const hasBody = !['GET', 'HEAD'].includes(method);
  const body = hasBody ? { body: new Uint8Array(await buffer(incoming)) } : {};
  return new Request(`http://10.0.0.1:8080${url}`, { method, headers, ...body });
};

/** What the app responds with. @param service its address */
export const respond = async (sessions: SessionCookies, request: Request, service: string) => {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/auth/')) return afterForm(request, await sessions.handle(request));
  const session = await sessions.open(request);
  if (session.response) return session.response;
  const response = await routes(pathname, session, request, service, sessions);
  session.setCookies(response.headers);
  return response;
};

/** A form leads to a page: to the first one, or to one that says what is wrong. */
const afterForm = async (request: Request, response: Response): Promise<Response> => {
  if (!request.headers.get('accept')?.includes('text/html')) return response;
  if (!response.ok) {
    const { error } = (await response.json()) as { error: Error };
    return html(`<p role="alert">${error.message}</p>`, response.status);
  }
  const headers = new Headers(response.headers);
  headers.set('location', '/');
  return new Response(null, { status: 303, headers });
};

const routes = async (
  pathname: string,
  session: Opened,
  request: Request,
  service: string,
  sessions: SessionCookies,
): Promise<Response> => {
  if (pathname === '/orders') {
    return Response.json({ by: session.user?.id, ordered: await request.text() });
  }
  if (pathname === '/profile') {
    const { status } = await session.fetch(`${service}/api/profile`);
    return Response.json({ status });
  }
  const { user } = await sessions.read({ headers: session.headers });
  return html(page(user));
};

const page = (user: Opened['user']): string =>
  user
    ? `<h1>Hello, ${user.email} (${user.role}).</h1>
      <form method="post" action="/auth/logout"><button>Log out</button></form>`
    : `<h1>${user === null ? 'Log in' : 'Try again later'}</h1>
      <form method="post" action="/auth/login">
        <input name="email" aria-label="Email address">
        <input name="password" type="password" aria-label="Password">
        <button>Log in</button>
      </form>`;

const html = (body: string, status = 200): Response =>
  new Response(`<!doctype html><title>Shop</title>${body}`, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });
