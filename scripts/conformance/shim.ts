/**
 * A loopback proxy that adds Authorization, because the conformance suite cannot send a custom
 * header. It changes nothing else: the suite sees the gateway's answers.
 */
import { createServer, request as httpRequest } from 'node:http';

export interface Shim {
  url: string;
  close(): Promise<void>;
}

/**
 * @param port to listen on
 * @param target URL of the gateway's path for the server
 * @param authorization header to add
 */
export async function startShim(
  port: number,
  target: string,
  authorization: string,
): Promise<Shim> {
  const server = createServer((incoming, outgoing) => {
    const onward = httpRequest(
      target,
      { method: incoming.method, headers: { ...incoming.headers, authorization } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        // An event stream's headers must arrive before its first event.
        outgoing.flushHeaders();
        answer.pipe(outgoing);
        answer.once('error', () => outgoing.destroy());
      },
    );
    onward.once('error', () => {
      if (outgoing.headersSent) return outgoing.destroy();
      outgoing.writeHead(502).end();
    });
    // When the client disconnects, the exchange with the gateway ends too.
    outgoing.once('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
