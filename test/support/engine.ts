import type { TestProject } from 'vitest/node';
import {
  type EngineName,
  engineNames,
  installedEngines,
  startEngine,
} from '../../infra/local/engine.ts';
import { staticFilesFolder } from '../../infra/static-files.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the DynamoDB engine that the tests of this run share. */
    engine: string;
    engineName: EngineName;
  }
}

/** The engine to test on: the first of those that this machine has, unless ENGINE names another. */
export const chosenEngine = (): EngineName => {
  const wanted = process.env.ENGINE ?? installedEngines()[0] ?? engineNames[0];
  const name = engineNames.find((candidate) => candidate === wanted);
  if (!name) throw new Error(`ENGINE must be one of ${engineNames.join(', ')}`);
  return name;
};

/** Runs one engine for all test files; each of them has tables of its own. */
export default async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const engineName = chosenEngine();
  globalThis.patience = 10;
  // Once, and not by each of the services that the tests start at the same time.
  staticFilesFolder();
  const engine = await startEngine({ only: engineName });
  provide('engine', engine.endpoint);
  provide('engineName', engineName);
  return engine.stop;
};
