/** The supervisor's listener: accepts connections and reads nothing from them. */
import { lookup } from 'node:dns/promises';
import { createServer, type Server, type Socket } from 'node:net';

export type PublicListener = Awaited<ReturnType<typeof listenPublicly>>;

/**
 * Listens on an address.
 *
 * @param at.host `localhost` is every address that this name has here
 * @param at.port 0 takes a free one
 * @param give called with each connection, paused
 * @throws when the address is in use or none of this machine
 */
export async function listenPublicly(
  at: { host: string; port: number },
  give: (socket: Socket) => void,
) {
  const hosts =
    at.host === 'localhost'
      ? (await lookup(at.host, { all: true })).map(({ address }) => address)
      : [at.host];
  const servers: Server[] = [];
  const close = () => {
    for (const server of servers) server.close();
  };
  try {
    for (const host of hosts) {
      const address = servers[0]?.address();
      const port = typeof address === 'object' && address !== null ? address.port : at.port;
      servers.push(await listen({ host, port }, give));
    }
  } catch (error) {
    close();
    throw error;
  }
  // The first of them: clients are given its address.
  return { server: servers[0] as Server, close };
}

function listen(at: { host: string; port: number }, give: (socket: Socket) => void) {
  return new Promise<Server>((resolve, reject) => {
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
      // The client may leave before a worker has it.
      socket.on('error', () => undefined);
      give(socket);
    });
    server.once('error', reject);
    server.listen(at, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}
