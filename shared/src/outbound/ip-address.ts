/** The address that an IP text denotes, whatever its spelling. */
import { isIP } from 'node:net';

/**
 * The address that is meant: without a zone, and as IPv4 where IPv6 only dresses it (`::ffff:0:0/96`,
 * and `64:ff9b::/96`, which a NAT64 translates).
 *
 * @returns null for anything but an address
 */
export function bareAddress(text: string): string | null {
  const [address = ''] = text.split('%');
  const version = isIP(address);
  if (version === 0) return null;
  if (version === 4) return address;
  const groups = ipv6Groups(address);
  const start = groups.slice(0, 6).join(':');
  if (start === '0:0:0:0:0:ffff' || start === '64:ff9b:0:0:0:0') return lastIpv4(groups);
  return address;
}

/**
 * The IPv4 address within one of IPv6 that may lead there: 6to4, IPv4-compatible, IPv4-translated
 * (`::ffff:0:0:0/96`), local NAT64.
 */
export function carriedIpv4(address: string): string | null {
  if (isIP(address) !== 6) return null;
  const groups = ipv6Groups(address);
  if (groups[0] === '2002') return lastIpv4(groups.slice(1, 3));
  const start = groups.slice(0, 6).join(':');
  const isCarrier =
    start === '0:0:0:0:0:0' || start === '0:0:0:0:ffff:0' || start.startsWith('64:ff9b:1:');
  return isCarrier ? lastIpv4(groups) : null;
}

/** The eight groups of an IPv6 address, in lower-case hexadecimal without leading zeros. */
export function ipv6Groups(address: string): string[] {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [before = '', after] = canonical.split('::');
  const head = before === '' ? [] : before.split(':');
  if (after === undefined) return head;
  const tail = after === '' ? [] : after.split(':');
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail];
}

/** The IPv4 address in the last two groups. */
export function lastIpv4(groups: string[]): string {
  const bytes = groups.slice(-2).flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
  return bytes.join('.');
}
