/**
 * Which addresses a request may go to (SERVICE_UPSTREAM_ALLOW, SERVICE_OUTBOUND_ALLOW). The check is made on the address
 * that is then connected to, in the connection's own look-up, so that a name cannot resolve to
 * one address for the check and to another for the connection. Redirects are not followed. Proven
 * by address-policy.test.ts.
 */
import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { commaList } from '../settings.ts';
import {
  AddressSet,
  family,
  METADATA_ADDRESSES,
  readCidr,
  SPECIAL_ADDRESSES,
} from './address-set.ts';
import { bareAddress, carriedIpv4 } from './ip-address.ts';

export interface AddressPolicy {
  /** Whether the host of a URL may be tried at all; an IP address in it is checked here. */
  isHostAllowed(host: string): boolean;
  /** For `net.connect`: resolves, and gives only addresses that are allowed. */
  lookup: LookupFunction;
  /**
   * Whether private addresses are open without being named. When this changes, earlier connections
   * must no longer be used.
   */
  isPrivateOpen(): boolean;
}

/** The error code of a look-up of a refused host. */
export const ADDRESS_REFUSED = 'UPSTREAM_ADDRESS_REFUSED';

/** Hosts whose result is cached, at most: servers have few. */
const MAX_KNOWN_HOSTS = 4096;
/** A wider range names nothing in particular. */
const NARROW = { ipv4: 16, ipv6: 10 };

/**
 * Reads the setting.
 *
 * @param entries host names (`.example.com` with all below it), addresses, CIDRs, `global` for
 *   every global address, `*` for everything but METADATA_ADDRESSES; a host that is named may have any
 *   address. Null where nothing is set: everything but METADATA_ADDRESSES, or only what is global
 * @param isPrivateOpen asked at each use where nothing is set: whether it is everything
 * @param refusal the message for a host whose addresses are not allowed
 * @throws RangeError for any other entry
 */
export function createAddressPolicy(
  entries: readonly string[] | null,
  isPrivateOpen: () => boolean = () => false,
  refusal: (host: string) => string = notAllowed,
): AddressPolicy {
  const allowed = new AddressSet();
  const named = new AddressSet();
  const special = new AddressSet(SPECIAL_ADDRESSES);
  const metadata = new AddressSet(METADATA_ADDRESSES);
  const hosts = new Set<string>();
  const suffixes: string[] = [];
  let everything = false;
  let global = entries === null;
  for (const entry of entries ?? []) {
    const text = entry.toLowerCase();
    if (text === '*') everything = true;
    else if (text === 'global') global = true;
    else if (text.includes('/')) {
      const range = readCidr(text);
      allowed.addRange(range);
      if (range.bits >= NARROW[family(range.address)]) named.addRange(range);
    } else if (isIP(text) !== 0) {
      const address = bareAddress(text) ?? text;
      allowed.addAddress(address);
      named.addAddress(address);
    } else if (/^\.[a-z0-9.-]+$/.test(text)) suffixes.push(text);
    else if (/^[a-z0-9][a-z0-9._-]*$/.test(text)) hosts.add(text);
    else throw new RangeError(`neither a host, an address nor a CIDR: ${entry}`);
  }

  const isBelowNamed = (host: string) => suffixes.some((suffix) => host.endsWith(suffix));
  const isPrivateOpenNow = () => (entries === null ? isPrivateOpen() : everything);

  /** @param isTrusted the address belongs to a host that is named by its suffix */
  function isAddressAllowed(text: string, isTrusted = false): boolean {
    const address = bareAddress(text);
    if (address === null) return false;
    if (named.has(address)) return true;
    // The address behind a translator is checked too.
    const carried = carriedIpv4(address);
    if (metadata.has(address) || (carried !== null && metadata.has(carried))) return false;
    if (isTrusted || isPrivateOpenNow() || allowed.has(address)) return true;
    return global && !special.has(address);
  }

  function isHostAllowed(host: string): boolean {
    const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
    // Whether the addresses of a name are allowed is known only when it is resolved.
    return isIP(bare) === 0 || isAddressAllowed(bare);
  }
  // Asked twice for each call: only whether private addresses are open can change.
  const known = { open: new Map<string, boolean>(), closed: new Map<string, boolean>() };

  return {
    isPrivateOpen: isPrivateOpenNow,
    isHostAllowed(host) {
      const answers = isPrivateOpenNow() ? known.open : known.closed;
      let isAllowed = answers.get(host);
      if (isAllowed === undefined) {
        isAllowed = isHostAllowed(host);
        if (answers.size >= MAX_KNOWN_HOSTS) answers.clear();
        answers.set(host, isAllowed);
      }
      return isAllowed;
    },
    lookup(hostname, options, callback) {
      const { all = false, ...rest } = options;
      const host = hostname.toLowerCase();
      lookup(hostname, { ...rest, all: true }, (error, addresses) => {
        if (error) {
          callback(error, '', 0);
          return;
        }
        const usable = hosts.has(host)
          ? addresses
          : addresses.filter(({ address }) => isAddressAllowed(address, isBelowNamed(host)));
        const [first] = usable;
        if (first === undefined) {
          const refused: NodeJS.ErrnoException = new Error(refusal(hostname));
          refused.code = ADDRESS_REFUSED;
          callback(refused, '', 0);
        } else if (all) callback(null, usable);
        else callback(null, first.address, first.family);
      });
    },
  };
}

/** A setting that is such a list. */
export const addressList = commaList.superRefine((entries, context) => {
  try {
    createAddressPolicy(entries);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : 'is not a list of addresses');
  }
});

/** The message for a refused MCP server. */
export function notAllowed(host: string): string {
  return `the address of ${host} is not open to MCP servers: SERVICE_UPSTREAM_ALLOW does not name it`;
}
