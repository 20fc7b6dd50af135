/**
 * A peer: mcp-proxy from crates.io (`cargo install mcp-proxy`), if BENCH_MCP_PROXY names its
 * binary. It checks an RS256 token and whether a role may use the tool, and writes a log line. It
 * keeps no record, evaluates no policy on arguments and syncs nothing to disk.
 */
import { spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../tests/support/service-process.ts';
import { HEADERS, idleMemory, onCore, stopTarget, type Target, untilUp } from './processes.ts';
import { openSession } from './shipping-plane.ts';

const ISSUER = 'https://bench.invalid';
const KID = 'bench';

/** @param binary the proxy's path */
export async function startRustPeer(binary: string, backend: string): Promise<Target> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: KID, alg: 'RS256', use: 'sig' }];
  const jwks = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => jwks.listen(0, '127.0.0.1', resolve));
  const { port: jwksPort } = jwks.address() as AddressInfo;

  const folder = mkdtempSync(join(tmpdir(), 'governance-bench-'));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const config = join(folder, 'proxy.toml');
  writeFileSync(config, configOf({ origin, port, backend, jwks: `http://127.0.0.1:${jwksPort}/` }));
  const command = [...onCore(1), binary, '--config', config];
  const child = spawn(command[0] as string, command.slice(1), {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const now = Math.floor(Date.now() / 1000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'RS256', typ: 'JWT', kid: KID })}.${encode({
    iss: ISSUER,
    // It expects its own address.
    aud: origin,
    sub: 'bench',
    scope: 'mcp:call',
    iat: now,
    exp: now + 86_400,
  })}`;
  const signature = sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url');
  const headers: Record<string, string> = {
    ...HEADERS,
    authorization: `Bearer ${signed}.${signature}`,
  };
  const target: Target = {
    name: 'mcp-proxy (Rust)',
    origin,
    path: '/',
    headers,
    child,
    tool: 'bench_lookup',
    idleMib: null,
    async stop() {
      jwks.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await untilUp(origin);
    await openSession(origin, target.path, headers);
    target.idleMib = await idleMemory(child);
    return target;
  } catch (error) {
    await stopTarget(target);
    throw error;
  }
}

function configOf({
  origin,
  port,
  backend,
  jwks,
}: {
  origin: string;
  port: number;
  backend: string;
  jwks: string;
}) {
  return `
[proxy]
name = "bench"
separator = "_"

[proxy.listen]
host = "127.0.0.1"
port = ${port}

[[backends]]
name = "bench"
transport = "http"
url = "${backend}/mcp"

[auth]
type = "jwt"
issuer = "${ISSUER}"
audience = "${origin}"
jwks_uri = "${jwks}"

[[auth.roles]]
name = "caller"
allow_tools = ["bench_lookup"]

[auth.role_mapping]
claim = "scope"
mapping = { "mcp:call" = "caller" }

[security]
admin_token = "bench"

[observability]
audit = true
log_level = "info"
`;
}
