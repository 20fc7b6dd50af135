/** Sets of IP addresses, and which addresses are global, so that a request may go to them. */
import { BlockList, isIP } from 'node:net';
import { bareAddress, carriedIpv4 } from './ip-address.ts';

/** Not global (IANA special-purpose registries). */
export const SPECIAL_ADDRESSES = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Of IPv6 only 2000::/3 is allocated.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
];

/**
 * Where clouds give a machine its own credentials, and all other link-local addresses. Neither `*`
 * nor `global` opens these, nor a range that merely includes them.
 */
export const METADATA_ADDRESSES = [
  '169.254.0.0/16',
  'fe80::/10',
  // Alibaba, Oracle, Azure; AWS and Google over IPv6.
  '100.100.100.200/32',
  '192.0.0.192/32',
  '168.63.129.16/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
];
/** Addresses and ranges. A range of IPv6 does not cover IPv4, as it would in one BlockList. */
export class AddressSet {
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() };

  constructor(cidrs: readonly string[] = []) {
    for (const cidr of cidrs) this.addRange(readCidr(cidr));
  }

  addAddress(address: string): void {
    this.#lists[family(address)].addAddress(address, family(address));
  }

  addRange({ address, bits }: Range): void {
    this.#lists[family(address)].addSubnet(address, bits, family(address));
  }

  has(address: string): boolean {
    return this.#lists[family(address)].check(address, family(address));
  }
}

export interface Range {
  address: string;
  bits: number;
}

/**
 * Reads a range.
 *
 * @throws RangeError when it is no CIDR
 */
export function readCidr(cidr: string): Range {
  const [address = '', prefix = ''] = cidr.split('/');
  const bits = Number(prefix);
  const isGood =
    isIP(address) !== 0 && /^\d{1,3}$/.test(prefix) && bits <= (isIP(address) === 4 ? 32 : 128);
  if (!isGood) throw new RangeError(`not a CIDR: ${cidr}`);
  return { address, bits };
}

/** @param address a valid one: any other text counts as IPv4 */
export function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

const special = new AddressSet([...SPECIAL_ADDRESSES, ...METADATA_ADDRESSES]);

/**
 * Whether an address is one of the public internet, and leads to no other through a translator.
 *
 * @param text an IPv4 or IPv6 address; any other text is not global
 */
export function isGlobalAddress(text: string): boolean {
  const address = bareAddress(text);
  if (address === null || special.has(address)) return false;
  const carried = carriedIpv4(address);
  return carried === null || !special.has(carried);
}
