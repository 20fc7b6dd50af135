import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressGroup,
  findClientAddress,
  NO_PROXIES,
  parseTrustedProxies,
} from './client-address.ts';

const trusted = parseTrustedProxies(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

describe('where a request comes from', () => {
  it.each<[string, string | undefined, string]>([
    // Nobody trusted the socket: the header is what the client wrote.
    ['198.51.100.1', '203.0.113.9', '198.51.100.1'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    // What the client put in front does not count.
    ['10.0.0.1', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '1.1.1.1, 203.0.113.9, 10.2.3.4', '203.0.113.9'],
    ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:a00:1', '203.0.113.9', '203.0.113.9'],
    ['fd00::1', '2001:db8::5', '2001:db8::5'],
    ['10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['10.0.0.1', '[2001:db8::5]:4711', '2001:db8::5'],
    ['10.0.0.1', '10.0.0.9, 192.0.2.7', '10.0.0.9'],
    // Malformed: the socket's.
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9, _hidden', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9,', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.999', '10.0.0.1'],
  ])('socket %s, X-Forwarded-For %s: %s', (socket, header, found) => {
    expect(findClientAddress(socket, header, trusted)).toBe(found);
  });

  it('is the socket where nobody is trusted, whatever the header says', () => {
    expect(findClientAddress('127.0.0.1', '203.0.113.9', NO_PROXIES)).toBe('127.0.0.1');
    expect(findClientAddress(undefined, '203.0.113.9', trusted)).toBe('');
  });

  it('is never chosen by an untrusted peer', () => {
    fc.assert(
      fc.property(fc.string(), fc.ipV4(), (claimed, last) => {
        const header = `${claimed}, ${last}`;
        const expected = trusted.has(last) ? expect.any(String) : last;
        expect(findClientAddress('10.0.0.1', header, trusted)).toEqual(expected);
      }),
    );
  });
});

it.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::FFFF:cb00:7109', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['', ''],
])('counts %s as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

it('counts the addresses of one /64 together, and of two apart', () => {
  fc.assert(
    fc.property(fc.ipV6(), fc.ipV6(), (one, other) => {
      const canonical = (address: string) => new URL(`http://[${address}]`).hostname;
      expect(addressGroup(one)).toBe(addressGroup(canonical(one).slice(1, -1)));
      if (addressGroup(one) === addressGroup(other)) return;
      expect(canonical(one)).not.toBe(canonical(other));
    }),
  );
});

it.each([
  'proxy.example',
  '10.0.0.0/33',
  '10.0.0.0/8/8',
  '10.0.0.0/',
  '/8',
  '::/129',
  '10.0.0.0/-1',
])('does not take %s for a proxy', (entry) => {
  expect(() => parseTrustedProxies([entry])).toThrow(RangeError);
});
