/**
 * Test files share processes, which load each package once. Before each file this undoes what an
 * earlier file may have left there, so that the modules of this repository are loaded anew, with
 * the settings of the file. It also refuses what a test cannot add to its file.
 */
import { beforeAll, TestRunner, vi } from 'vitest';

const file = TestRunner.getCurrentSuite();
const shared = globalThis as { environmentAtStart?: NodeJS.ProcessEnv; addHook?: typeof file.on };
shared.environmentAtStart ??= { ...process.env };

vi.unstubAllEnvs();
for (const name of Object.keys(process.env)) delete process.env[name];
Object.assign(process.env, shared.environmentAtStart);
vi.unstubAllGlobals();
vi.restoreAllMocks();
vi.useRealTimers();
vi.resetModules();

// A machine that has other work, or stands still, is no fault of the service's.
globalThis.patience = 10;

// Vitest ignores a hook that is added while tests run, so that what it should end goes on.
shared.addHook ??= file.on;
file.on = shared.addHook;
beforeAll(() => {
  file.on = () => {
    throw new Error('A hook has no effect within a test or another hook: call it outside');
  };
});
