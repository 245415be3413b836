import { protectedEndpoint } from '../../lib/http/access.ts';
import { postEntries } from '../../lib/options/machines/post-entries.ts';
import { requireIdempotencyKey } from '../../lib/options/machines/posted-key.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(
  contract.create,
  async ({ body, headers, machine, requestContext }) => {
    const key = requireIdempotencyKey(headers);
    const post = { machine: machine.id, key, request_id: requestContext.requestId };
    const { isNew, stored } = await postEntries({ ...post, entries: body.entries });
    return { statusCode: isNew ? 201 : 200, body: { data: stored } };
  },
  ({ headers }) => requireIdempotencyKey(headers),
);
