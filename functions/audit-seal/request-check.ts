import { recording } from '../../lib/audit/record.ts';
import { DomainError } from '../../lib/ground/errors.ts';
import { config, keepsSeal } from '../../lib/ground/settings.ts';
import { protectedEndpoint } from '../../lib/http/access.ts';
import type { IncomingEvent } from '../../lib/http/request.ts';
import * as checkRequest from '../../lib/seal/check-request.ts';
import * as wholeCheck from '../../lib/seal/whole-check.ts';
import * as contract from './contract.ts';

export const handler = protectedEndpoint(
  contract.requestCheck,
  async (request) => {
    // While sealing is paused, the sealer does not run, and would not see the request.
    if (config.auditSeal !== 'on' || !keepsSeal(config)) throw new DomainError('AUDIT_NOT_SEALED');
    const { whole = false } = request.body;
    const check = {
      source: request.source,
      action: 'UPDATE',
      resource: 'audit-seal',
      by: request.claims.id,
      details: { check: 'requested', ...(whole && { whole }) },
    } as const;
    await recording(check, async () => {
      await (whole ? wholeCheck.ask(new Date()) : checkRequest.leave());
    });
    return { statusCode: 202, body: { message: contract.requested } };
  },
  ignoreOtherBodies,
);

/** Ignores a body that does not name `whole`, whatever it is, because version 1.0.0 ignored every body. */
function ignoreOtherBodies(event: IncomingEvent): void {
  const { body, isBase64Encoded } = event;
  const bytes = Buffer.from(String(body ?? ''), isBase64Encoded ? 'base64' : 'utf8');
  if (!bytes.includes('"whole"')) delete event.body;
}
