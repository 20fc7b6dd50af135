/**
 * The addresses of one service. A service on this machine's loopback is reached as `localhost`,
 * `127.0.0.1` and `[::1]`, and an OAuth client compares the address it uses with the one in the
 * metadata (RFC 8414 section 3.3, RFC 9728 section 3.3): so each client gets its own. The addresses
 * come from the public one; a Host header only selects among them.
 */
import { withoutTrailingSlashes } from '../text.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * @param publicUrl SERVICE_PUBLIC_URL
 * @returns all addresses of the service, without a slash at their ends, the public one first
 */
export function ownAddresses(publicUrl: string): string[] {
  const given = withoutTrailingSlashes(publicUrl);
  const url = new URL(given);
  if (!LOOPBACK.includes(url.hostname)) return [given];
  const others = LOOPBACK.filter((name) => name !== url.hostname).map((name) => {
    const other = new URL(given);
    other.hostname = name;
    return withoutTrailingSlashes(other.href);
  });
  return [given, ...others];
}

/**
 * @param host a request's Host header (caller-controlled)
 * @returns the own address that it names, else the public one
 */
export function addressFor(publicUrl: string, host: string | undefined): string {
  const addresses = ownAddresses(publicUrl);
  return addresses.find((address) => new URL(address).host === host) ?? (addresses[0] as string);
}

/**
 * @param address of the service or of something below it, as a client knows it
 * @returns the same below the public address; unchanged if it is not one of the service's
 */
export function asPublicAddress(publicUrl: string, address: string): string {
  const [canonical = '', ...others] = ownAddresses(publicUrl);
  const known = others.find((other) => address === other || address.startsWith(`${other}/`));
  return known === undefined ? address : canonical + address.slice(known.length);
}
