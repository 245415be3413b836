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
    /** The address of the DynamoDB engine that the tests of this run share. */
    engine: string;
    engineName: EngineName;
  }
}

/** The engine that the tests use: the first installed engine, unless ENGINE names another one. */
export const chosenEngine = (): EngineName => {
  const wanted = process.env.ENGINE ?? installedEngines()[0] ?? engineNames[0];
  const name = engineNames.find((candidate) => candidate === wanted);
  if (!name) throw new Error(`ENGINE must be one of ${engineNames.join(', ')}`);
  return name;
};

/** Runs one engine for all test files; each file has tables of its own. */
export default async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const engineName = chosenEngine();
  globalThis.patience = 10;
  // This is done once, and not by each of the services that the tests start at the same time.
  staticFilesFolder();
  const engine = await startEngine({ only: engineName });
  provide('engine', engine.endpoint);
  provide('engineName', engineName);
  return engine.stop;
};
