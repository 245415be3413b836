/**
 * Test files share processes, which load each package once. Before each file this undoes what an
 * earlier file may have left there, so that the modules of this repository are loaded anew, with
 * the settings of the file.
 */
import { vi } from 'vitest';

const shared = globalThis as { environmentAtStart?: NodeJS.ProcessEnv };
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
