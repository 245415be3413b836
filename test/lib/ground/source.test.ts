import { describe, expect, it } from 'vitest';
import { networkOf, oneSpelling } from '../../../lib/ground/source.ts';

describe('The network of an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:02::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::3:4:5:6:7', '2001:db8:0:3::/64'],
    ['2001::2:3:4:5:6:7', '2001:0:2:3::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['2001:db8:1:2:3:4:5::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
    ['', ''],
  ])('of %j is %j', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('The canonical spelling of an address', () => {
  it.each([
    ['2001:DB8:0:0:0::0001', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['0:0:0:0:0:FFFF:cb00:7107', '203.0.113.7'],
    ['::ffff:0:203.0.113.7', '::ffff:0:cb00:7107'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['unknown', 'unknown'],
  ])('of %j is %j', (address, spelling) => {
    expect(oneSpelling(address)).toBe(spelling);
  });
});
