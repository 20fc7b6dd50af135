/**
 * Which addresses an upstream may have (SERVICE_UPSTREAM_ALLOW). The check is made on the address
 * that is then connected to, in the connection's own look-up, so that a name cannot resolve to
 * one address for the check and to another for the connection.
 */
import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

export interface AddressPolicy {
  /** Whether the host of a URL may be tried at all; an address in it is checked here. */
  isHostAllowed(host: string): boolean;
  /** For `net.connect`: resolves, and gives only addresses that are allowed. */
  lookup: LookupFunction;
}

/** Not global (IANA special-purpose registries), for the word `global`. */
const SPECIAL = [
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
  '::/127',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
];

/**
 * Reads the setting.
 *
 * @param entries host names (`.example.com` with all below it), addresses, CIDRs, `global` for
 *   every global address, `*` for everything; a host that is named may have any address
 * @throws RangeError for an entry that is none of these
 */
export function createAddressPolicy(entries: readonly string[]): AddressPolicy {
  const allowed = new BlockList();
  const special = new BlockList();
  for (const cidr of SPECIAL) addCidr(special, cidr);
  const hosts = new Set<string>();
  const suffixes: string[] = [];
  let everything = false;
  let global = false;
  for (const entry of entries) {
    const text = entry.toLowerCase();
    if (text === '*') everything = true;
    else if (text === 'global') global = true;
    else if (text.includes('/')) addCidr(allowed, text);
    else if (isIP(text) !== 0) allowed.addAddress(text, family(text));
    else if (/^\.[a-z0-9.-]+$/.test(text)) suffixes.push(text);
    else if (/^[a-z0-9][a-z0-9._-]*$/.test(text)) hosts.add(text);
    else throw new RangeError(`neither a host, an address nor a CIDR: ${entry}`);
  }

  const isNamed = (host: string) =>
    everything || hosts.has(host) || suffixes.some((suffix) => host.endsWith(suffix));

  function isAddressAllowed(address: string): boolean {
    if (everything) return true;
    // An IPv4 address in IPv6's clothes is the IPv4 address.
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
    const plain = mapped ?? address;
    if (isIP(plain) === 0) return false;
    if (allowed.check(plain, family(plain))) return true;
    return global && !special.check(plain, family(plain));
  }

  return {
    isHostAllowed(host) {
      const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
      if (isIP(bare) !== 0)
        return (
          isNamed(bare) ||
          isAddressAllowed(new URL(`http://${host}`).hostname.replace(/^\[(.*)\]$/, '$1'))
        );
      // Whether its addresses are allowed shows when it is resolved.
      return true;
    },
    lookup(hostname, options, callback) {
      const { all = false, ...rest } = options;
      lookup(hostname, { ...rest, all: true }, (error, addresses) => {
        if (error) {
          callback(error, '', 0);
          return;
        }
        const usable = isNamed(hostname.toLowerCase())
          ? addresses
          : addresses.filter(({ address }) => isAddressAllowed(address));
        const [first] = usable;
        if (first === undefined) {
          const refused: NodeJS.ErrnoException = new Error(
            `the address of ${hostname} is not in SERVICE_UPSTREAM_ALLOW`,
          );
          refused.code = 'UPSTREAM_ADDRESS_REFUSED';
          callback(refused, '', 0);
        } else if (all) callback(null, usable);
        else callback(null, first.address, first.family);
      });
    },
  };
}

function addCidr(list: BlockList, cidr: string): void {
  const [address = '', prefix = ''] = cidr.split('/');
  const bits = Number(prefix);
  const isGood =
    isIP(address) !== 0 && /^\d{1,3}$/.test(prefix) && bits <= (isIP(address) === 4 ? 32 : 128);
  if (!isGood) throw new RangeError(`not a CIDR: ${cidr}`);
  list.addSubnet(address, bits, family(address));
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
