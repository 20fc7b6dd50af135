/** Where a test plane is and who it is: what stays over its restart. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { lendTokenKey } from './test-token-keys.ts';

export interface PlanePlace {
  readonly dataDir: string;
  readonly tenantId: string;
  readonly deploymentId: string;
  readonly signingKey: KeyObject;
  readonly port: number;
  /** How far the facts of each of its tenants are. */
  readonly cursors: Map<string, number>;
}

/** A new one; `over` has what a control plane knows of it already. */
export async function aPlace(over: Partial<PlanePlace> = {}): Promise<PlanePlace> {
  return {
    dataDir: over.dataDir ?? aDataFolder(),
    tenantId: uuidv7(),
    deploymentId: uuidv7(),
    signingKey: generateKeyPairSync('ed25519').privateKey,
    port: await freePort(),
    cursors: new Map(),
    ...over,
  };
}

function aDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'governance-gateway-'));
  lendTokenKey(folder);
  return folder;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
