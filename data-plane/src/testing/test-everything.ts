/** The reference server of MCP as a process of its own, for tests. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assetPath } from '@governance/shared/process/assets';
import { HTTP_SERVER, STDIO_SERVER, startTestPlane } from './test-plane.ts';

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

/** A plane with this server over both transports: `http` and `stdio`. `stop` ends all of it. */
export async function startEverythingPlane() {
  const folder = mkdtempSync(join(tmpdir(), 'governance-everything-'));
  const everything = await startEverything();
  const plane = await startTestPlane({
    servers: [HTTP_SERVER('http', everything.url), STDIO_SERVER('stdio')],
    stdioServers: new Map([['stdio', everythingCommand(folder)]]),
  });
  return {
    ...plane,
    async stop() {
      await plane.stop();
      everything.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
