/**
 * Stands in for @smithy/core/event-streams in the bundles. No operation of DynamoDB or Secrets
 * Manager streams events, but the SDK could import the module at any time, for which esbuild wraps
 * it, and the 157 modules that it shares, in functions: 20 KB, and 8 of 59 ms for an import.
 */
throw new Error('Event streams are left out of the bundles, see infra/stack/bundling/options.ts');

export {};
