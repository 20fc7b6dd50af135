import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAddressPolicy } from './address-policy.ts';

const hostOf = (address: string) => (address.includes(':') ? `[${address}]` : address);
const isAllowed = (policy: ReturnType<typeof createAddressPolicy>, address: string) =>
  policy.isHostAllowed(new URL(`http://${hostOf(address)}/`).hostname);

/** IPv6 addresses that lead to an IPv4 address, or are it. */
function disguises(ipv4: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  return [
    ipv4,
    `::ffff:${ipv4}`,
    `::ffff:${hex}`,
    `0:0:0:0:0:ffff:${ipv4}`,
    `64:ff9b::${ipv4}`,
    `64:ff9b::${hex}`,
    `::${hex}`,
    `2002:${hex}::1`,
    `::ffff:0:${hex}`,
    `64:ff9b:1::${hex}`,
  ];
}

const PRIVATE = ['127.0.0.1', '10.1.2.3', '100.64.0.1', '172.31.255.255', '192.168.0.1', '0.0.0.0'];
const PRIVATE_6 = [
  '::1',
  '::',
  'fd00::1',
  'fc00::1',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
  '5f00::1',
];
const METADATA = ['169.254.169.254', '169.254.0.1', '100.100.100.200', '168.63.129.16'];
const METADATA_6 = ['fe80::1', 'fd00:ec2::254', 'fd20:ce::254'];
const GLOBAL = ['93.184.216.34', '8.8.8.8', '2606:2800:220:1::1', '64:ff9b::8.8.8.8'];

describe('the addresses of MCP servers', () => {
  it('of global ones knows the others in every disguise', () => {
    const policies = [createAddressPolicy(['global']), createAddressPolicy(null, () => false)];
    for (const policy of policies) {
      for (const address of [...PRIVATE, ...METADATA].flatMap(disguises)) {
        expect([address, isAllowed(policy, address)]).toEqual([address, false]);
      }
      for (const address of [...PRIVATE_6, ...METADATA_6]) {
        expect([address, isAllowed(policy, address)]).toEqual([address, false]);
      }
      for (const address of GLOBAL) {
        expect([address, isAllowed(policy, address)]).toEqual([address, true]);
      }
      expect(policy.isHostAllowed('example.com')).toBe(true);
    }
  });

  it.each([
    ['*', createAddressPolicy(['*'])],
    ['nothing', createAddressPolicy(null, () => true)],
    ['ranges that hold all', createAddressPolicy(['0.0.0.0/0', '::/0'])],
    ['a range that holds some', createAddressPolicy(['*', '100.64.0.0/10', 'fc00::/7'])],
  ])('with %s are all but those where clouds give credentials', (_, policy) => {
    for (const address of [...PRIVATE, ...PRIVATE_6, ...GLOBAL]) {
      expect([address, isAllowed(policy, address)]).toEqual([address, true]);
    }
    for (const address of [...METADATA.flatMap(disguises), ...METADATA_6]) {
      expect([address, isAllowed(policy, address)]).toEqual([address, false]);
    }
  });

  it('are those that are named, each by itself too', () => {
    const policy = createAddressPolicy(['169.254.169.254', '10.0.0.0/8', 'fe80::/10']);
    for (const address of ['169.254.169.254', '::ffff:169.254.169.254', '10.9.9.9', 'fe80::2']) {
      expect([address, isAllowed(policy, address)]).toEqual([address, true]);
    }
    for (const address of ['169.254.169.253', '11.0.0.1', '127.0.0.1', '8.8.8.8']) {
      expect([address, isAllowed(policy, address)]).toEqual([address, false]);
    }
  });

  it('never are private without being named, however they are written', () => {
    const policy = createAddressPolicy(['global']);
    const byte = fc.nat(255);
    const inPrivate = fc.oneof(
      fc.tuple(fc.constant(10), byte, byte, byte),
      fc.tuple(fc.constant(127), byte, byte, byte),
      fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
      fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
    );
    fc.assert(
      fc.property(inPrivate, (bytes) => {
        const [a, b, c, d] = bytes;
        const number = ((a * 256 + b) * 256 + c) * 256 + d;
        const ways = [
          String(number),
          `0x${number.toString(16)}`,
          `${a}.${(b * 256 + c) * 256 + d}`,
        ];
        for (const address of [...disguises(bytes.join('.')), ...ways]) {
          expect([address, isAllowed(policy, address)]).toEqual([address, false]);
        }
      }),
    );
  });

  const resolve = (policy: ReturnType<typeof createAddressPolicy>, host: string) =>
    new Promise<string>((done) => {
      policy.lookup(host, { all: true }, (error) => done(error?.message ?? 'ok'));
    });

  it('are checked where a name is resolved', async () => {
    expect(await resolve(createAddressPolicy(['global']), 'localhost')).toBe(
      'the address of localhost is not open to MCP servers: SERVICE_UPSTREAM_ALLOW does not name it',
    );
    for (const entries of [['localhost'], ['*'], ['127.0.0.0/8', '::1']]) {
      expect(await resolve(createAddressPolicy(entries), 'localhost')).toBe('ok');
    }
  });

  it('are judged again once private ones are closed, and separately for each host', () => {
    let isOpen = true;
    const policy = createAddressPolicy(null, () => isOpen);
    for (const open of [true, false, true, false]) {
      isOpen = open;
      expect(isAllowed(policy, '10.1.2.3')).toBe(open);
      expect(isAllowed(policy, '8.8.8.8')).toBe(true);
      expect(isAllowed(policy, '169.254.169.254')).toBe(false);
    }
  });

  it.each(['10.0.0.0/33', 'a b', 'x/y', 'fe80::/129'])('cannot be %s', (entry) => {
    expect(() => createAddressPolicy([entry])).toThrow(RangeError);
  });
});
