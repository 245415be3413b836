import { randomUUID } from 'node:crypto';
import type { ApiRequest } from '../endpoint.ts';
import { DomainError, faultName } from '../errors.ts';
import { logError } from '../log.ts';
import { type AuditedAction, makeEntry } from './entry.ts';
import { insertEntry } from './store.ts';

/** Milliseconds by which a slow audit store may delay an answer (decisions, What is audited). */
const recordingTimeout = 1000;

/** Draws of an id; two entries of one millisecond collide once in 4,096. */
const maxDraws = 5;

/**
 * Records what was done, by whom, from where. Never throws and takes at most a second: an entry
 * that cannot be written is logged whole, so that it can be replayed (spec, Recording rule 3).
 */
export const record = async (
  request: ApiRequest,
  action: Omit<AuditedAction, 'resource' | 'ip_address' | 'user_agent'>,
): Promise<void> => {
  const now = new Date();
  const deadline = now.getTime() + recordingTimeout;
  const { sourceIp, userAgent } = request.requestContext.http;
  const audited = {
    ...action,
    resource: 'users',
    ip_address: sourceIp,
    user_agent: userAgent,
  };
  const writeId = randomUUID();
  let entry = makeEntry(audited, { now });
  try {
    for (let draw = 1; draw <= maxDraws; draw += 1) {
      const timeout = Math.max(1, deadline - Date.now());
      if (await insertEntry(entry, { writeId, timeout })) return;
      entry = makeEntry(audited, { now });
    }
    throw new Error('No free audit id');
  } catch (error) {
    logError('audit-entry-not-written', {
      fault: faultName(error),
      writeId,
      entry,
    });
  }
};

/**
 * Runs an operation; if the store fails, records a FAILURE before the fault goes on its way.
 * @param action what is recorded of the failure
 */
export const recordingFaults = async <T>(
  request: ApiRequest,
  action: Omit<AuditedAction, 'resource' | 'ip_address' | 'user_agent' | 'result' | 'details'>,
  operation: () => Promise<T>,
): Promise<T> => {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'STORAGE_FAULT') {
      await record(request, {
        ...action,
        result: 'FAILURE',
        details: { error: faultName(error) },
      });
    }
    throw error;
  }
};
