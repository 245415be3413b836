import { config } from '../../../lib/ground/settings.ts';
import { day, hour } from '../../../lib/ground/time.ts';
import { keysLifetime } from '../../../lib/keys/signing-key.ts';
import { recordChange } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { Failure, UsageError } from '../failure.ts';
import { openKeys } from '../signing-keys.ts';
import { shownTime } from '../terminal.ts';

const run: Run = async ({ operator, options }) => {
  if (options.sign && options.retire) throw new UsageError('Give --sign or --retire, not both.');
  if (config.tokenSigning === 'HS256') {
    throw new Failure('A secret signs the tokens of this service: see rotate-secret.');
  }
  const keys = await openKeys();
  const step = options.sign ? sign(keys) : options.retire ? retire(keys) : await publish(keys);
  const { action, kid, due, dueIfLost, work, done } = step;
  const from = options.now ? dueIfLost : due;
  if (Date.now() < from) {
    throw new Failure(
      `It is too early. Run the command from ${shownTime(from)} on; use --now only if a key is lost.`,
    );
  }
  await recordChange(
    { operator, action, resource: 'signing-key', resource_id: kid },
    async () => {
      await work();
      console.log(done);
    },
    { check: 'Run the command again: it completes the step.' },
  );
};

export const rotateSigningKey: Command = {
  summary: 'replace the key that signs tokens which others verify, in three steps',
  options: {
    '--sign': 'sign tokens with the published key',
    '--retire': 'refuse tokens of the previous key, and delete it',
    '--now': 'do the step early, because a key is lost; some tokens are then refused',
  },
  help: `Without an option, the command makes a key and publishes it. Two hours later --sign signs tokens
with it. When the last token of the previous key has expired, --retire deletes that key. Each step says
from when on the next step is possible; before, it is refused.`,
  run,
};

/**
 * Milliseconds from the publication of a key to its first signature, because API Gateway keeps the keys that it has
 * read for two hours. After `least`, all functions have read the key, and KMS allows them to use it.
 */
const publication = { delay: 2 * hour * 1000, least: keysLifetime };

/**
 * Milliseconds from the last signature of a key to the expiry of the last token that it signed, even if TOKEN_MINUTES
 * had its maximum at that time.
 */
const retirementDelay = keysLifetime + (day + 60) * 1000;

type Keys = Awaited<ReturnType<typeof openKeys>>;

function sign({ next, current, put }: Keys) {
  if (!next) throw new Failure('No key is published: run the command without options first.');
  if (next.id === current.id) {
    const from = shownTime(current.since + retirementDelay);
    throw new Failure(`The key ${next.kid} signs already. Next: --retire, from ${from} on.`);
  }
  const done = `The key ${next.kid} signs, in all functions from ${after(keysLifetime)} on.
Next: --retire, from ${after(retirementDelay)} on, when the last token of the previous key has expired.`;
  const due = next.since + publication.delay;
  const dueIfLost = next.since + publication.least;
  const work = () => put('current', next.id);
  return { action: 'UPDATE', kid: next.kid, due, dueIfLost, work, done } as const;
}

function after(delay: number): string {
  return shownTime(Date.now() + delay);
}

function retire({ next, current, previous, remove, destroy }: Keys) {
  if (!previous || previous.id === current.id) throw new Failure('There is no previous key.');
  const { id, kid } = previous;
  const work = async () => {
    if (next) await remove('next');
    await remove('previous');
    await destroy(id);
  };
  const done = `Tokens of the key ${kid} are refused from ${after(keysLifetime)} on, by API Gateway within two hours.
The rotation is complete.`;
  const due = current.since + retirementDelay;
  return { action: 'DELETE', kid, due, dueIfLost: 0, work, done } as const;
}

async function publish({ next, current, previous, make, put }: Keys) {
  if (previous && previous.id !== current.id) {
    throw new Failure('The previous key is still published: run --retire first.');
  }
  if (next) {
    const from = shownTime(next.since + publication.delay);
    throw new Failure(`The key ${next.kid} is published already. Next: --sign, from ${from} on.`);
  }
  const { id, kid } = await make();
  const work = async () => {
    // The previous key is set now, so that --sign is a single change: functions that read the new key always find the
    // previous key too.
    await put('previous', current.id);
    await put('next', id);
  };
  const done = `Published the key ${kid}, which signs nothing yet.
Next: --sign, from ${after(publication.delay)} on, when every service that verifies tokens has read it.`;
  return { action: 'CREATE', kid, due: 0, dueIfLost: 0, work, done } as const;
}
