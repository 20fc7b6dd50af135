/** A TCP link that a test cuts and restores, and that counts requests in plain HTTP. */
import { connect, createServer, type Socket } from 'node:net';

export interface CutLink {
  url: string;
  /** Ends every connection, and each new one immediately. */
  cut(): void;
  heal(): void;
  /** Requests whose first line matches, since the start. */
  count(firstLine: RegExp): number;
  stop(): Promise<void>;
}

/** @param target the http address that it leads to */
export async function startCutLink(target: string): Promise<CutLink> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const lines: string[] = [];
  let isCut = false;
  const server = createServer((socket) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    const up = connect(Number(port), hostname);
    for (const one of [socket, up]) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        socket.destroy();
        up.destroy();
      });
    }
    socket.on('data', (bytes) => {
      const found = bytes.toString('latin1').match(/^(GET|POST|PUT) \S+ HTTP\/1\.1/gm);
      lines.push(...(found ?? []));
    });
    socket.pipe(up);
    up.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as { port: number };
  const end = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${own}`,
    cut: () => {
      isCut = true;
      end();
    },
    heal: () => {
      isCut = false;
    },
    count: (firstLine) => lines.filter((line) => firstLine.test(line)).length,
    stop: async () => {
      end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
