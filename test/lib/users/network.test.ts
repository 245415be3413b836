import { expect, it } from 'vitest';
import { networkOf } from '../../../lib/users/network.ts';

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:02::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
  ['', ''],
])('takes %j for a party at %j', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
