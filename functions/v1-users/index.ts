import type { Handler } from '../../lib/http/request.ts';
import { handler as create } from './create.ts';
import { handler as remove } from './delete.ts';
import { handler as get } from './get.ts';
import { handler as list } from './list.ts';
import { handler as patch } from './patch.ts';
import { handler as replace } from './replace.ts';

const handlers: Readonly<Record<string, Handler>> = {
  'GET /api/v1/users': list,
  'POST /api/v1/users': create,
  'GET /api/v1/users/{id}': get,
  'PUT /api/v1/users/{id}': replace,
  'PATCH /api/v1/users/{id}': patch,
  'DELETE /api/v1/users/{id}': remove,
};

/** The six endpoints of /api/v1/users in one function: separate ones would share no memory. */
export const handler: Handler = async (event, context) => {
  const handle = handlers[event.routeKey];
  if (!handle) throw new Error(`No handler for route ${event.routeKey}`);
  return handle(event, context);
};
