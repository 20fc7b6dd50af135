/**
 * The listening address, tried before anything slow starts: a port in use is reported in the first
 * second, and port 0 becomes a number before tokens and metadata name it.
 */
import { createServer } from 'node:net';
import { withoutTrailingSlashes } from '../text.ts';
import { errorCode, StartError } from './start-error.ts';

export interface ListeningAddress {
  /** SERVICE_HOST */
  host: string;
  /** SERVICE_PORT; 0 stands for a free one. */
  port: number;
  /** SERVICE_PUBLIC_URL, or `defaultPublicUrl`. */
  publicUrl: string;
}

/** Hosts that are reached by the name of the machine's own loopback. */
const ANY_OR_LOOPBACK = new Set(['0.0.0.0', '::', '127.0.0.1', '::1', 'localhost']);

/** The address for clients of a service without a configured one. */
export function defaultPublicUrl(host: string, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  const address = `http://${ANY_OR_LOOPBACK.has(host) ? 'localhost' : name}:${port}`;
  // In its one spelling, like a configured one. What is no address is refused where it listens.
  return URL.canParse(address) ? withoutTrailingSlashes(new URL(address).href) : address;
}

/**
 * Tries the address by listening on it for a moment.
 *
 * @returns the address with the port that was found where port 0 was given, in the public address too
 * @throws StartError saying what to change
 */
export async function settleAddress({
  host,
  port,
  publicUrl,
}: ListeningAddress): Promise<Pick<ListeningAddress, 'port' | 'publicUrl'>> {
  const found = await listenForAMoment(host, port);
  if (port !== 0) return { port, publicUrl };
  const url = new URL(publicUrl);
  if (url.port === '0') url.port = String(found);
  return { port: found, publicUrl: url.href.replace(/\/$/, '') };
}

function listenForAMoment(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => reject(describeListenFailure(error, { host, port })));
    server.listen({ host, port }, () => {
      const address = server.address();
      const found = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(found));
    });
  });
}

/**
 * @param error of a listener
 * @returns what to change, or the error itself for any other error
 */
function describeListenFailure(
  error: unknown,
  { host, port }: Pick<ListeningAddress, 'host' | 'port'>,
): unknown {
  const startError = (message: string) => new StartError(message, { cause: error });
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return startError(
        `port ${port} is in use on ${host}: stop the program that listens there, or set SERVICE_PORT to another port (0 takes a free one)`,
      );
    case 'EACCES':
      return startError(
        `this user may not listen on port ${port}: set SERVICE_PORT to 1024 or above, or give the process the right to low ports`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return startError(
        `${host} is no address of this machine: set SERVICE_HOST to one of its addresses, to 127.0.0.1, or to 0.0.0.0 for all`,
      );
    default:
      return error;
  }
}

/**
 * Listens there.
 *
 * @throws StartError saying what to change: another program may have taken the port since it was tried
 */
export async function listenAt(
  app: { listen(at: { host: string; port: number }): Promise<unknown> },
  { host, port }: Pick<ListeningAddress, 'host' | 'port'>,
): Promise<void> {
  try {
    // For this name Fastify makes a second server, without what guards the first.
    await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port });
  } catch (error) {
    throw describeListenFailure(error, { host, port });
  }
}
