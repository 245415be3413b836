import * as contract from '../../lib/contract/docs.ts';
import { revalidated } from '../../lib/http/conditional.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { documentFor } from './served.ts';

/** GET and HEAD /openapi.json */
export const handler = endpoint(contract.getDocument, anyone, (request) => {
  const body = JSON.stringify(documentFor(request));
  return revalidated(request, { body, contentType: 'application/json; charset=utf-8' });
});
