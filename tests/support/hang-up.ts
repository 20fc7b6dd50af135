import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** Begins a request with a body and hangs up in the middle of it. Returns once the server knows. */
export async function hangUpInTheMiddle(
  server: Server,
  body: { path: string; contentType: string; bytes: number },
): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  const asked = once(server, 'request');
  socket.write(
    `POST ${body.path} HTTP/1.1\r\nHost: here\r\nContent-Type: ${body.contentType}\r\n` +
      `Content-Length: ${body.bytes}\r\n\r\n{`,
  );
  const [, response] = await asked;
  const closed = once(response, 'close');
  socket.destroy();
  await closed;
  await new Promise((resolve) => setImmediate(resolve));
}
