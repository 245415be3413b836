/** Sends requests to a deployment until it is known whether the deployment works. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Success } from '../../lib/contract/contract.ts';
import { faultName } from '../../lib/ground/errors.ts';
import { parseJson } from '../../lib/ground/rules.ts';
import type { Probe } from './probes.ts';

/** The verdict on a request: `fault` means that the deployment is at fault. */
export interface Judged {
  readonly title: string;
  readonly verdict: 'right' | 'fault' | 'unknown';
  /** The status and the code of the error, or why there is no response. */
  readonly found: string;
}

interface Probing {
  /** The address of the service, without a slash at the end. */
  readonly url: string;
  /** The time until which requests are repeated, in milliseconds of performance.now(). */
  readonly deadline: number;
}

const atOnce = 4;

/** Sends the requests in groups, and stops after a group in which no request gets a response. */
export async function probeAll(
  probes: readonly Probe[],
  probing: Probing,
): Promise<readonly Judged[]> {
  const judged: Judged[] = [];
  for (let at = 0; at < probes.length; at += atOnce) {
    const batch = probes.slice(at, at + atOnce);
    const all = await Promise.all(batch.map((probe) => judge(probe, probing)));
    judged.push(...all);
    if (all.every(({ found }) => found.startsWith(unreachable))) return judged;
  }
  return judged;
}

const unreachable = 'no response: ';

/** Milliseconds between two attempts. */
const pause = 1000;

/** How many wrong responses to a request are a fault: a single wrong response may be transient. */
const maxWrong = 3;

/**
 * Sends a request until a response is right, or three responses were wrong, or the time is over. A request that must be
 * sent only once, or gets 401, is not repeated.
 */
async function judge(probe: Probe, { url, deadline }: Probing): Promise<Judged> {
  for (let wrong = 0; ; ) {
    const judged = await ask(probe, url);
    const { verdict, found } = judged;
    if (verdict === 'right' || probe.isOnce || found.startsWith('401 ')) return judged;
    // API Gateway responds with 503 while all instances that the account may have are busy.
    if (verdict === 'fault' && found !== '503') wrong += 1;
    if (wrong >= maxWrong || performance.now() + pause > deadline) return judged;
    await wait(pause);
  }
}

/** Milliseconds: API Gateway itself responds after 30 seconds. */
const timeout = 35_000;

async function ask(probe: Probe, url: string): Promise<Judged> {
  const { title, method, path, headers = {}, body } = probe;
  const request = { method, headers, redirect: 'manual', ...(body ? { body } : {}) } as const;
  try {
    const signal = AbortSignal.timeout(timeout);
    const response = await fetch(url + path, { ...request, signal });
    const text = await response.text();
    const code = response.headers.get('error-code') ?? '';
    const found = [response.status, code].filter(Boolean).join(' ');
    return { title, verdict: verdictOn(probe, response, { code, text }), found };
  } catch (error) {
    const { cause = error } = error as Error;
    return { title, verdict: 'unknown', found: unreachable + faultName(cause) };
  }
}

function verdictOn(
  { success, errors }: Probe,
  { status, headers }: Response,
  { code, text }: { code: string; text: string },
): Judged['verdict'] {
  // A throttled request, or an expired token, does not show whether the deployment works.
  if (status === 429 || (success && status === 401)) return 'unknown';
  if ((errors as readonly string[]).includes(code)) return 'right';
  return status === success?.status && isOfForm(success, headers, text) ? 'right' : 'fault';
}

function isOfForm({ schema, contentType }: Success, headers: Headers, text: string): boolean {
  const [wanted = ''] = (contentType ?? 'application/json').split(';');
  if (!schema) return true;
  if (!headers.get('content-type')?.startsWith(wanted)) return false;
  return wanted !== 'application/json' || parseJson(text) != null;
}
