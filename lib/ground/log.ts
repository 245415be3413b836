import { DomainError, faultName } from './errors.ts';

export const logError = logAt('error');
/** Logs an event that is not a fault, but that operators should know about. */
export const logWarning = logAt('warn');

// The events of log lines, by names that other modules use; alarms look for most of them.

export const mailNotHandedOver = 'mail-not-handed-over';

/**
 * A mail could not be sent. Lambda tries again, and finally keeps the mail in the queue of failures.
 */
export const mailNotSent = 'mail-not-sent';

/** A limit of mails has withheld a mail. The metric WithheldMails counts lines with this event. */
export const mailWithheld = 'mail-withheld';

/** A refresh token was sent again after its use, so its session was ended. */
export const refreshTokenReused = 'refresh-token-reused';

/** The API has made a user an admin. The alarm AdminMade looks for lines with this event. */
export const adminMade = 'admin-made';

/** The sealer, or the publisher of events, has found faults in the sealed trail. */
export const auditTrailBroken = 'audit-trail-broken';

/**
 * The event of a line that contains a whole audit entry which could not be written. The stack's alarm looks for such
 * lines, and the operator's `replay-audit` writes their entries.
 */
export const entryNotWritten = 'audit-entry-not-written';

/** Runs work that may fail although the request must not: the fault is logged. @returns undefined after a fault */
export async function loggingFaults<T>(
  event: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    logError(event, describeFault(error));
    return undefined;
  }
}

/**
 * The fields of a log line about a fault. The message is logged only if the error is our own or comes from an AWS
 * service: any other message may quote a request.
 */
export function describeFault(error: unknown): Record<string, unknown> {
  const cause = error instanceof DomainError && error.cause ? error.cause : error;
  if (!(cause instanceof Error)) return { fault: faultName(error) };
  const { $fault: side, $metadata: metadata } = cause as {
    $fault?: 'client' | 'server';
    $metadata?: { requestId?: string };
  };
  // The SDK adds metadata to every error, even to an error that quotes a response it could not parse.
  const quotable = side !== undefined || cause.name === 'ConfigError';
  return {
    fault: faultName(error),
    ...(quotable ? { message: cause.message } : {}),
    ...(metadata?.requestId ? { awsRequestId: metadata.requestId } : {}),
    stack: stackFrames(cause),
  };
}

/** Logs that the API has made a user an admin. */
export function logAdminMade(
  id: number,
  { by, requestId }: { by: number | undefined; requestId: string },
): void {
  logWarning(adminMade, { requestId, user_id: id, by });
}

/** Logs that a limit has withheld a mail of a kind. The line says nothing about the address. */
export function logMailWithheld({ kind, request_id }: { kind: string; request_id: string }): void {
  logWarning(mailWithheld, { requestId: request_id, kind });
}

/** Replaces control characters, which a terminal would obey, in text that users have chosen. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '�');
}

function stackFrames(error: Error): string[] {
  return (error.stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .map((line) => line.trim());
}

/** One line of JSON on standard error, which both CloudWatch Logs Insights and `jq` read. */
function logAt(level: 'error' | 'warn') {
  return (event: string, fields: Readonly<Record<string, unknown>>): void => {
    console.error(JSON.stringify({ level, event, ...fields }));
  };
}
