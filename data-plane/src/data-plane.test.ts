import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '@governance/shared/process/log';
import { Gauge, Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readGatewayConfig } from './config.ts';
import { createDataPlane } from './data-plane.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'data-plane-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const create = (registry: Registry) =>
  createDataPlane({
    dataDir,
    publicUrl: 'http://127.0.0.1:8080',
    version: '1.0.0',
    region: null,
    gateway: readGatewayConfig({}),
    issuesTokens: true,
    registry,
    log: createLog({ debug: false }, { write: () => {} }),
    onFatal: () => {
      throw new Error('the ledger failed');
    },
  });

it('leaves its folder to the next one where its last part cannot be made', async () => {
  const registry = new Registry();
  const name = 'governance_tool_calls_total';
  new Gauge({ name, help: 'of another program', registers: [registry] });
  await expect(create(registry)).rejects.toThrow(name);
  const plane = await create(new Registry());
  await plane.stop();
});
