/**
 * Stands in for @smithy/core/event-streams in the bundles. Neither DynamoDB nor Secrets Manager
 * has an operation that streams events, but the SDK imports the module dynamically, for which
 * esbuild wraps it and the 150 modules that it shares in functions: 20 KB, and parsed twice.
 */
throw new Error('Event streams are left out of the bundles, see infra/bundling.ts');

export {};
