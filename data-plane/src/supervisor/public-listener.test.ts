import { connect, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { listenPublicly, type PublicListener } from './public-listener.ts';

let listener: PublicListener | undefined;
let given: Socket[] = [];
afterEach(() => {
  for (const socket of given) socket.destroy();
  listener?.close();
  given = [];
});

const give = (socket: Socket) => given.push(socket);
const portOf = ({ server }: PublicListener) => (server.address() as { port: number }).port;

it('accepts on every address of localhost, and reads nothing', async () => {
  listener = await listenPublicly({ host: 'localhost', port: 0 }, give);
  const client = connect(portOf(listener), 'localhost');
  client.write('GET / HTTP/1.1\r\n');
  await vi.waitFor(() => expect(given).toHaveLength(1));
  const [socket] = given;
  // What was sent is still there for the worker that accepts the connection.
  const text = await new Promise((resolve) => {
    socket?.once('data', (chunk) => resolve(String(chunk)));
    socket?.resume();
  });
  expect(text).toBe('GET / HTTP/1.1\r\n');
  client.destroy();
});

it('fails where the port is taken, and holds none of its addresses', async () => {
  listener = await listenPublicly({ host: '127.0.0.1', port: 0 }, give);
  const port = portOf(listener);
  for (const host of ['127.0.0.1', 'localhost']) {
    await expect(listenPublicly({ host, port }, give)).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  }
});
