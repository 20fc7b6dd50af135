/**
 * OPA's net.cidr_contains and net.cidr_intersects, as Go's net package reads addresses. An address
 * that maps IPv4 into IPv6 (::ffff:10.0.0.1) is the IPv4 address; OPA's WebAssembly reads the text.
 */
import type { Builtin } from './builtin.ts';

const FUEL_PER_CHARACTER = 20;
const MAPPED = 0xffffn;
const IPV4_BITS = 32;
const IPV6_BITS = 128;

interface Address {
  bits: typeof IPV4_BITS | typeof IPV6_BITS;
  value: bigint;
}

/** Its address has zeros behind the prefix. */
interface Network {
  address: Address;
  prefix: number;
}

export const cidrContains: Builtin = ([outer, inner], call) => {
  if (typeof outer !== 'string' || typeof inner !== 'string') return undefined;
  call.charge((outer.length + inner.length) * FUEL_PER_CHARACTER);
  const network = parseNetwork(outer);
  if (!network) return undefined;
  const address = parseAddress(inner);
  if (address) return contains(network, unmapped(address));
  const other = parseNetwork(inner);
  return other && network.prefix <= other.prefix && contains(network, other.address);
};

export const cidrIntersects: Builtin = ([first, second], call) => {
  if (typeof first !== 'string' || typeof second !== 'string') return undefined;
  call.charge((first.length + second.length) * FUEL_PER_CHARACTER);
  const a = parseNetwork(first);
  const b = parseNetwork(second);
  return a && b && (contains(a, b.address) || contains(b, a.address));
};

function contains({ address, prefix }: Network, other: Address): boolean {
  return address.bits === other.bits && masked(other, prefix).value === address.value;
}

function masked({ bits, value }: Address, prefix: number): Address {
  const host = BigInt(bits - prefix);
  return { bits, value: (value >> host) << host };
}

function unmapped(address: Address): Address {
  const isMapped = address.bits === IPV6_BITS && address.value >> 32n === MAPPED;
  return isMapped ? { bits: IPV4_BITS, value: BigInt.asUintN(IPV4_BITS, address.value) } : address;
}

function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf('/');
  const length = text.slice(slash + 1);
  if (slash < 0 || !/^0*\d{1,3}$/.test(length)) return undefined;
  const address = parseAddress(text.slice(0, slash));
  const prefix = Number(length);
  if (!address || prefix > address.bits) return undefined;
  const start = masked(address, prefix);
  const plain = unmapped(start);
  return { address: plain, prefix: prefix - (start.bits - plain.bits) };
}

/** Go's netip.ParseAddr without zones, undefined when it is none. */
function parseAddress(text: string): Address | undefined {
  const bits = text.includes(':') ? IPV6_BITS : IPV4_BITS;
  const value = bits === IPV6_BITS ? parseIpv6(text) : parseIpv4(text);
  return value === undefined ? undefined : { bits, value };
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

function parseIpv6(text: string): bigint | undefined {
  const sides = withoutIpv4(text)?.split('::');
  if (!sides || sides.length > 2) return undefined;
  const [before = [], after] = sides.map((side) => (side === '' ? [] : side.split(':')));
  const missing = 8 - before.length - (after?.length ?? 0);
  // Two colons stand for one group at least.
  if (after ? missing < 1 : missing !== 0) return undefined;
  const groups = after ? [...before, ...Array<string>(missing).fill('0'), ...after] : before;
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

/** Writes an IPv4 address at the end as two groups. */
function withoutIpv4(text: string): string | undefined {
  const start = text.lastIndexOf(':') + 1;
  const last = text.slice(start);
  if (!last.includes('.')) return text;
  const value = parseIpv4(last);
  if (value === undefined) return undefined;
  return `${text.slice(0, start)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}
