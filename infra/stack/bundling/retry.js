/**
 * Replaces @smithy/core/retry in the bundles. The package also has the adaptive mode of retries with its rate limiter,
 * and settings for it, which the client of lib/dynamodb/client.ts does not use: it states how many attempts it makes.
 * Leaving them out saves 4 KB. This is JavaScript because the package has no types under these paths.
 */
import { isStreamingPayload } from '@smithy/core/dist-es/submodules/retry/middleware-retry/isStreamingPayload/isStreamingPayload';
import { bindGetRetryPlugin } from '@smithy/core/dist-es/submodules/retry/middleware-retry/retryMiddleware';
import { StandardRetryStrategy } from '@smithy/core/dist-es/submodules/retry/util-retry/StandardRetryStrategy';

export {
  DEFAULT_MAX_ATTEMPTS,
  DEFAULT_RETRY_MODE,
  RETRY_MODES,
} from '@smithy/core/dist-es/submodules/retry/util-retry/config';
export { Retry } from '@smithy/core/dist-es/submodules/retry/util-retry/retries-2026-config';

export const getRetryPlugin = bindGetRetryPlugin(isStreamingPayload);

/** The configuration of a client that states its `maxAttempts`. */
export function resolveRetryConfig(client, { defaultBaseDelay: baseDelay }) {
  const { maxAttempts } = client;
  const strategy = new StandardRetryStrategy({ maxAttempts, baseDelay });
  return Object.assign(client, {
    maxAttempts: async () => maxAttempts,
    retryStrategy: async () => strategy,
  });
}

// Settings of the environment, which are not read where a client states its own.
export const NODE_MAX_ATTEMPT_CONFIG_OPTIONS = {};
export const NODE_RETRY_MODE_CONFIG_OPTIONS = {};
