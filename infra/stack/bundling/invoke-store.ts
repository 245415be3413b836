/**
 * Replaces @aws/lambda-invoke-store in the bundles. That package separates the trace ids of requests which one process
 * handles at the same time; a process of these functions never does. Without it, the SDK takes the id from the
 * environment. Leaving it out saves 2 KB.
 */
export const InvokeStore = { getInstanceAsync: async () => undefined };
