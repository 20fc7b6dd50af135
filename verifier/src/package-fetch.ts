/**
 * Fetches a package from an address chosen by a stranger: only https on port 443 of global
 * addresses. The name is resolved once, all its addresses are checked, and the connection goes to a
 * checked one. Redirects are not followed, and nothing of a response is repeated to the caller.
 * Proven by package-fetch.test.ts.
 */
import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { ByteCollector } from '@governance/shared/byte-collector';
import { CodedError } from '@governance/shared/coded-error';
import { isGlobalAddress } from '@governance/shared/outbound/address-set';

export type FetchFault =
  | 'url_invalid'
  | 'url_not_allowed'
  | 'address_not_global'
  | 'fetch_failed'
  | 'fetch_too_large'
  | 'fetch_timeout';

/** A package that could not be fetched; its message is safe to show. */
export class PackageFetchError extends CodedError<FetchFault> {}

export interface PackageFetchDeps {
  /** The addresses of a host name. */
  resolve(host: string): Promise<{ address: string; family: number }[]>;
  /** Opens the request; `node:https` unless a test listens elsewhere. */
  request(
    options: RequestOptions,
    answer: (response: IncomingMessage) => void,
  ): {
    on(event: 'error', listener: (error: Error) => void): unknown;
    end(): unknown;
    destroy(): unknown;
  };
  maxBytes: number;
  timeoutMs: number;
}

const MAX_URL_LENGTH = 2_000;

export type FetchPackage = (url: string) => Promise<Buffer>;

/**
 * Fetches packages by https, from global addresses alone: a verifier must not be made to reach into
 * its own network.
 *
 * @returns a function that rejects with PackageFetchError, whose message says what is wrong
 */
export function createPackageFetch(
  given: Partial<PackageFetchDeps> & Pick<PackageFetchDeps, 'maxBytes' | 'timeoutMs'>,
): FetchPackage {
  const deps: PackageFetchDeps = {
    resolve: (host) => lookup(host, { all: true }),
    request: httpsRequest,
    ...given,
  };

  /** @throws PackageFetchError unless all of them are global */
  async function resolveGlobal(host: string): Promise<{ address: string; family: number }> {
    let addresses: { address: string; family: number }[];
    try {
      const version = isIP(host);
      addresses = version === 0 ? await deps.resolve(host) : [{ address: host, family: version }];
    } catch (cause) {
      throw new PackageFetchError('fetch_failed', 'the host could not be resolved', { cause });
    }
    const [first] = addresses;
    if (!first || !addresses.every(({ address }) => isGlobalAddress(address))) {
      throw new PackageFetchError(
        'address_not_global',
        'the host has an address that is not global',
      );
    }
    return first;
  }

  return async (text) => {
    const url = parsePackageUrl(text);
    const deadline = AbortSignal.timeout(deps.timeoutMs);
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const pinned = await withDeadline(resolveGlobal(host), deadline);
    return withDeadline(get(url, host, pinned, deadline), deadline);
  };

  function get(
    url: URL,
    host: string,
    pinned: { address: string; family: number },
    signal: AbortSignal,
  ): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const options: RequestOptions = {
        host,
        port: 443,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        agent: false,
        signal,
        headers: { accept: '*/*', 'accept-encoding': 'identity' },
        lookup: (_host, options, callback) => {
          if (options.all) callback(null, [pinned]);
          else callback(null, pinned.address, pinned.family);
        },
      };
      const request = deps.request(options, (response) => {
        readBody(response, deps.maxBytes).then(resolve, (error) => {
          request.destroy();
          reject(error);
        });
      });
      request.on('error', (cause) =>
        reject(
          new PackageFetchError('fetch_failed', 'the package could not be fetched', { cause }),
        ),
      );
      request.end();
    });
  }
}

/**
 * @param text caller-controlled
 * @throws PackageFetchError
 */
function parsePackageUrl(text: string): URL {
  const url = text.length <= MAX_URL_LENGTH && URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw new PackageFetchError('url_invalid', 'the address is no URL');
  const isAllowed =
    url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === '';
  if (!isAllowed) {
    throw new PackageFetchError(
      'url_not_allowed',
      'the address must be https on port 443, without a user',
    );
  }
  return url;
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (response.statusCode !== 200) {
    throw new PackageFetchError('fetch_failed', 'the host did not answer with the package');
  }
  const body = new ByteCollector(maxBytes);
  for await (const part of response as AsyncIterable<Buffer>) {
    if (!body.add(part)) {
      throw new PackageFetchError('fetch_too_large', 'the package is too large');
    }
  }
  return body.take();
}

function withDeadline<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  const late = () => new PackageFetchError('fetch_timeout', 'the package did not come in time');
  return new Promise((resolve, reject) => {
    deadline.addEventListener('abort', () => reject(late()), { once: true });
    work.then(resolve, (error) => reject(deadline.aborted ? late() : error));
  });
}
