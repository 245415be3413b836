import { isIPv6 } from 'node:net';

/** The eight groups of an IPv6 address, `::` filled in. */
const groups = (address: string): string[] => {
  const [head = '', tail] = address.split('::');
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean));
  const missing = Math.max(0, 8 - (before?.length ?? 0) - (after?.length ?? 0));
  return [...(before ?? []), ...Array<string>(missing).fill('0'), ...(after ?? [])];
};

/**
 * What one party holds of the address space: an IPv4 address, or the /64 of an IPv6 address, of
 * which any customer of any provider has 2^64.
 */
export const networkOf = (address: string): string => {
  if (!isIPv6(address) || address.includes('.')) return address;
  const prefix = groups(address).slice(0, 4);
  return `${prefix.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
};
