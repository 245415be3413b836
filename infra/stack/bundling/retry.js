/**
 * Replaces @smithy/core/retry in the bundles. The package also has the adaptive mode of retries with its rate limiter,
 * and settings for both modes, which no client here uses; leaving them out saves 4 KB. This is JavaScript because the
 * package has no types under these paths.
 */
import { isStreamingPayload } from '@smithy/core/dist-es/submodules/retry/middleware-retry/isStreamingPayload/isStreamingPayload';
import { bindGetRetryPlugin } from '@smithy/core/dist-es/submodules/retry/middleware-retry/retryMiddleware';
import {
  DEFAULT_MAX_ATTEMPTS,
  DEFAULT_RETRY_MODE,
  RETRY_MODES,
} from '@smithy/core/dist-es/submodules/retry/util-retry/config';
import { StandardRetryStrategy } from '@smithy/core/dist-es/submodules/retry/util-retry/StandardRetryStrategy';

export { Retry } from '@smithy/core/dist-es/submodules/retry/util-retry/retries-2026-config';
export { DEFAULT_MAX_ATTEMPTS, DEFAULT_RETRY_MODE, RETRY_MODES };

export const getRetryPlugin = bindGetRetryPlugin(isStreamingPayload);

/** The configuration of a client: the standard mode, with the number of attempts that the client states, or 3. */
export function resolveRetryConfig(client, { defaultBaseDelay: baseDelay } = {}) {
  const { maxAttempts: stated = DEFAULT_MAX_ATTEMPTS } = client;
  const maxAttempts = typeof stated === 'function' ? stated : async () => stated;
  let strategy;
  const retryStrategy = async () => {
    strategy ??= new StandardRetryStrategy({ maxAttempts: await maxAttempts(), baseDelay });
    return strategy;
  };
  return Object.assign(client, { maxAttempts, retryStrategy });
}

/** A setting that is not read from the environment or from a file. */
function fixed(value) {
  const unset = () => undefined;
  return { environmentVariableSelector: unset, configFileSelector: unset, default: value };
}

export const NODE_MAX_ATTEMPT_CONFIG_OPTIONS = fixed(DEFAULT_MAX_ATTEMPTS);
export const NODE_RETRY_MODE_CONFIG_OPTIONS = fixed(DEFAULT_RETRY_MODE);
