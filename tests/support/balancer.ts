/** A TCP balancer in front of replicas: each connection goes to the next one that accepts. */
import { connect, createServer, type Socket } from 'node:net';

export interface Balancer {
  url: string;
  close(): Promise<void>;
}

export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;

  function join(client: Socket, attempts: number): void {
    const backend = connect(ports[turn++ % ports.length] as number, '127.0.0.1');
    open.add(backend);
    backend.once('close', () => open.delete(backend));
    const next = () => {
      if (attempts > 1) join(client, attempts - 1);
      else client.destroy();
    };
    backend.once('error', next);
    backend.once('connect', () => {
      backend.off('error', next);
      const end = () => {
        client.destroy();
        backend.destroy();
      };
      backend.on('error', end).on('close', end);
      client.on('close', end);
      client.pipe(backend).pipe(client);
    });
  }

  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => client.destroy());
    client.once('close', () => open.delete(client));
    join(client, ports.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
