import { describe, expect, it } from 'vitest';
import { sourceAddress } from '../../../infra/local/event.ts';

const [client, spoofed] = ['203.0.113.9', '198.51.100.1'];

describe('The source of a request behind a reverse proxy', () => {
  it.each([
    // The connection comes from this machine: what its proxy has added last counts.
    ['127.0.0.1', client, client],
    ['::1', client, client],
    ['::ffff:127.0.0.1', client, client],
    ['127.8.9.10', client, client],
    ['127.0.0.1', `${spoofed}, ${client}`, client],
    ['127.0.0.1', `${spoofed},${client} `, client],
    ['127.0.0.1', `"x, ${spoofed}", ${client}`, client],
    ['127.0.0.1', '10.0.0.1', '10.0.0.1'],
    ['127.0.0.1', '2001:DB8:0:0::1', '2001:db8::1'],
    ['127.0.0.1', `::ffff:${client}`, client],
    // It is no address: an earlier entry, which a client can write, counts as little.
    ['127.0.0.1', undefined, '127.0.0.1'],
    ['127.0.0.1', '', '127.0.0.1'],
    ['127.0.0.1', `${client},`, '127.0.0.1'],
    ['127.0.0.1', `${client}, unknown`, '127.0.0.1'],
    ['127.0.0.1', `${client}, _hidden`, '127.0.0.1'],
    ['127.0.0.1', `${client} ${client}`, '127.0.0.1'],
    ['127.0.0.1', `${client}:4711`, '127.0.0.1'],
    ['127.0.0.1', `for=${client}`, '127.0.0.1'],
    ['127.0.0.1', `${client}/32`, '127.0.0.1'],
    ['127.0.0.1', '203.0.113.009', '127.0.0.1'],
    ['127.0.0.1', '3405803785', '127.0.0.1'],
    ['127.0.0.1', '[2001:db8::1]', '127.0.0.1'],
    ['127.0.0.1', '[2001:db8::1]:4711', '127.0.0.1'],
    ['127.0.0.1', 'fe80::1%eth0', '127.0.0.1'],
    ['::1', 'unknown', '::1'],
    // The connection comes from elsewhere.
    ['172.17.0.2', client, '172.17.0.2'],
    ['::ffff:172.17.0.2', client, '172.17.0.2'],
    ['12.7.0.1', client, '12.7.0.1'],
    ['2001:db8::127', client, '2001:db8::127'],
    ['10.0.0.5', '127.0.0.1', '10.0.0.5'],
    // It has ended.
    [undefined, client, ''],
  ])('over a connection from %s with X-Forwarded-For %j is %s', (remote, forwarded, source) => {
    expect(sourceAddress(remote, forwarded)).toBe(source);
  });
});

describe('The source of a request without PUBLIC_URL', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['172.17.0.2', '172.17.0.2'],
  ])(
    'is the address of the other end of the connection, whatever a header says: %s',
    (remote, source) => {
      expect(sourceAddress(remote)).toBe(source);
    },
  );
});
