/**
 * Replaces @aws-sdk/middleware-endpoint-discovery in the bundles. That package asks a service for its endpoints. The
 * client of DynamoDB configures it, but no command needs it. Leaving it out saves 9 KB, including the LRU cache from
 * two more packages, and about 1 ms of a cold start.
 */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
};

export function resolveEndpointDiscoveryConfig<T>(config: T): T {
  return config;
}
