/** The reference server of MCP as a process of its own, for tests. */
import { spawn } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { assetPath } from '@governance/shared/assets';

const EVERYTHING = assetPath('node_modules/@modelcontextprotocol/server-everything/dist/index.js');

/** Starts it over Streamable HTTP. */
export async function startEverything(): Promise<{ url: string; stop(): void }> {
  const port = await freePort();
  const server = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await fetch(url);
      return { url, stop: () => void server.kill() };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  server.kill();
  throw new Error(`nothing answers at ${url}`);
}

/** How it is started over stdio. */
export function everythingCommand(cwd: string) {
  return { command: process.execPath, args: [EVERYTHING, 'stdio'], env: {}, cwd };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
