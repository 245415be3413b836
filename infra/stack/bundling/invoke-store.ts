/**
 * Replaces @aws/lambda-invoke-store in the bundles. It keeps apart the trace ids of requests that one
 * process handles at the same time, which these functions never do: without it, the SDK takes the id from
 * the environment. Leaving it out saves 2 KB.
 */
export const InvokeStore = { getInstanceAsync: async () => undefined };
