const sensitiveKeys = new Set(['password', 'token', 'secret', 'creditCard', 'apiKey']);

const isEmpty = (value: unknown) => value === undefined || value === null || value === '';

/**
 * Replaces the sensitive top-level values of a details object (functions/README.md, What is audited).
 * Anything but an object is returned unchanged.
 */
export const redact = (details: unknown): unknown => {
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return details;
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [
      key,
      sensitiveKeys.has(key) && !isEmpty(value) ? '[REDACTED]' : value,
    ]),
  );
};
