import { isIP, isIPv6 } from 'node:net';
import type { Language } from './settings.ts';

/** The id of a request, where it comes from, and its language. */
export interface Source {
  readonly request_id: string;
  readonly ip_address: string;
  readonly user_agent: string;
  /** The language of the mails that the request causes; absent: MAIL_LANGUAGE. */
  readonly language?: Language;
  /** The machine that makes the request, or that vouches for the address; absent: there is none. */
  readonly machine_id?: number;
}

/** Whether a text is an IP address. An address with a zone, such as fe80::1%eth0, has a meaning only on one machine. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

/** An address in its canonical spelling: IPv6 addresses can be spelt in many ways (RFC 5952). */
export function oneSpelling(address: string): string {
  const url = isIPv6(address) ? URL.parse(`http://[${address}]`) : null;
  return url ? unmapped(url.hostname.slice(1, -1)) : address;
}

/** An IPv4 address, or the /64 network of an IPv6 address, because each customer of a provider has one. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const prefix = groups(address).slice(0, 4);
  return `${prefix.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** The IPv4 address that an IPv6 address contains (RFC 4291, section 2.5.5.2), if it does. */
function unmapped(address: string): string {
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(address) ?? [];
  if (!high || !low) return address;
  return [high, low].flatMap((group) => [...Buffer.from(group.padStart(4, '0'), 'hex')]).join('.');
}

/** The eight groups of an IPv6 address, with `::` expanded. */
function groups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean));
  const missing = Math.max(0, 8 - (before?.length ?? 0) - (after?.length ?? 0));
  return [...(before ?? []), ...Array<string>(missing).fill('0'), ...(after ?? [])];
}
