/**
 * Test files share processes, which load each package once. Before each file, this module undoes what an earlier file
 * may have changed in the process, so that the modules of this repository are loaded anew, with the settings of the
 * file. It also refuses hooks that are added too late.
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

// The service is not at fault if the machine has other work, or stalls.
globalThis.patience = 10;

// Vitest ignores a hook that is added while tests run, so that whatever the hook should end would keep running.
shared.addHook ??= file.on;
file.on = shared.addHook;
beforeAll(() => {
  file.on = () => {
    throw new Error('A hook has no effect within a test or another hook: call it outside');
  };
});
