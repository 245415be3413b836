/** The key of the tag of everything that a proving run makes. */
export const tagKey = 'accounts-proof';

export const tagOf = (run: string): Readonly<Record<string, string>> => ({ [tagKey]: run });

/** The beginning of every name that a run gives. */
export const prefixOf = (run: string): string => `accounts-proof-${run}-`;
