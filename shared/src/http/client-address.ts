/**
 * Where a request comes from, for limits by address. X-Forwarded-For is caller-controlled: only what
 * a trusted proxy appended to it counts (SERVICE_TRUSTED_PROXIES).
 */
import { BlockList, isIP } from 'node:net';
import { ipv6Groups, lastIpv4 } from '../outbound/ip-address.ts';

/** The proxies whose X-Forwarded-For counts. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/** No proxy is trusted: every request comes from its socket's address. */
export const NO_PROXIES: TrustedProxies = { has: () => false };

/**
 * Reads the setting.
 *
 * @param entries addresses and CIDRs
 * @throws RangeError naming the entry that is neither
 */
export function parseTrustedProxies(entries: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix, ...rest] = entry.split('/');
    const family = isIP(address);
    const widest = family === 4 ? 32 : 128;
    const bits = prefix === undefined ? widest : Number(prefix);
    const isGood = /^\d{1,3}$/.test(prefix ?? '0') && bits <= widest && rest.length === 0;
    if (family === 0 || !isGood) throw new RangeError(`${entry} is neither an address nor a CIDR`);
    list.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return {
    has: (text) => {
      const address = plainAddress(text);
      const family = isIP(address);
      return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

/**
 * The address that a request comes from: the last hop that is not a trusted proxy.
 *
 * @param socketAddress of the connection
 * @param forwarded the X-Forwarded-For header; caller-controlled but for what proxies appended
 * @returns the socket's address where that is not trusted, or where a hop is unreadable
 */
export function findClientAddress(
  socketAddress: string | undefined,
  forwarded: string | string[] | undefined,
  trusted: TrustedProxies,
): string {
  const own = plainAddress(socketAddress ?? '');
  if (forwarded === undefined || !trusted.has(own)) return own;
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : forwarded).split(',');
  for (const hop of hops.reverse()) {
    const address = readHop(hop.trim());
    if (address === undefined) return own;
    if (!trusted.has(address)) return address;
  }
  // Every hop is a trusted proxy: the request originates at the first of them.
  return readHop((hops.at(-1) ?? '').trim()) ?? own;
}

/** Some proxies append the port as well. */
function readHop(text: string): string | undefined {
  const bare =
    /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d{1,5}$/, '$1');
  const address = plainAddress(bare);
  return isIP(address) === 0 ? undefined : address;
}

/** Without a zone; an IPv4-mapped IPv6 address becomes the IPv4 address. */
function plainAddress(text: string): string {
  const address = text.split('%')[0] ?? '';
  if (isIP(address) !== 6) return address;
  const groups = ipv6Groups(address);
  return groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff' ? lastIpv4(groups) : address;
}

/**
 * What limits count by: an IPv4 address, or the /64 of an IPv6 one, which is what one customer has.
 *
 * @param address of `findClientAddress`; any other text stands for itself
 */
export function addressGroup(address: string): string {
  const plain = plainAddress(address);
  if (isIP(plain) !== 6) return plain;
  return `${ipv6Groups(plain).slice(0, 4).join(':')}::/64`;
}
