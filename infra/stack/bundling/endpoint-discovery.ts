/**
 * Stands in for @aws-sdk/middleware-endpoint-discovery in the bundles. It asks a service for its
 * endpoints, which DynamoDB's commands never do: the client only configures it, and so carries it
 * and the LRU cache of two more packages, 9 KB.
 */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: undefined,
};

export const resolveEndpointDiscoveryConfig = <T>(config: T): T => config;
