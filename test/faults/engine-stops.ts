import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { type EngineName, startEngine } from '../../infra/local/engine.ts';
import { logIn, register } from '../support/client.ts';
import { lostAmong, startLoad } from '../support/load.ts';
import { asOnAws } from '../support/patience.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { brokenItems, scan } from '../support/stored-items.ts';
import { callAll, untilWell } from './experiment.ts';

const nothing = async () => undefined;

/**
 * The engines that have committed a transaction when they answer it. DynamoDB Local has only queued
 * the COMMIT then, ahead of whatever it is asked next. Killed at that moment it loses users whom a
 * request under way is about to acknowledge. One that is answered wrote its audit entry after that.
 */
const committing: readonly EngineName[] = ['dynoxide'];

/** Times to ask whether all is well again: a Java machine takes its time. */
const maxQuestions = 100;

const untilAnswering = async ({ api }: TestService): Promise<void> => {
  for (let question = 0; question < maxQuestions; question += 1) {
    const answered = await register(api).catch(() => undefined);
    if (answered) return;
    await sleep(100);
  }
};

/** Stops the engine, and then kills it, under a service at work; each time it comes back. */
export const stopEngineUnderLoad = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  const only = inject('engineName');
  let engine = await startEngine({ only, folder });
  const { endpoint } = engine;
  const service = await startTestService({
    ...asOnAws,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    // One more thing for which a registration waits: count, user and audit entry in turn.
    REGISTRATIONS_PER_ADDRESS: '100000',
  });
  await untilAnswering(service);
  const admin = await logIn(service.api, service.admin);
  const load = startLoad(service);
  const callWhile = async (begin: () => Promise<void>, end: () => Promise<void>) =>
    (await callAll({ engine: endpoint, service, admin, begin, end, sideBySide: 10 })).outcomes;
  const signal = async (name: NodeJS.Signals) => {
    engine.process?.kill(name);
  };
  const resume = async () => {
    await signal('SIGCONT');
    await untilAnswering(service);
  };
  let unsure: ReadonlySet<unknown> = new Set();
  const kill = async () => {
    if (!committing.includes(only)) unsure = new Set(load.underWay);
    await signal('SIGKILL');
  };
  const startAgain = async () => {
    engine = await startEngine({ only, folder, endpoint });
    await untilAnswering(service);
  };

  const outcomes = {
    hangs: await callWhile(() => signal('SIGSTOP'), resume),
    'goes on': await untilWell(() => callWhile(nothing, nothing)),
    killed: await callWhile(kill, startAgain),
    'is back': await untilWell(() => callWhile(nothing, nothing)),
  };
  const acknowledged = (await load.stop()).filter((one) => !unsure.has(one));
  const lost = await lostAmong(service, acknowledged);
  const broken = brokenItems(await scan(endpoint, service.environment.USERS_TABLE ?? ''));
  await service.stop();
  await engine.stop();
  rmSync(folder, { recursive: true });
  return { outcomes, acknowledged, lost, broken, output: service.output() };
};
