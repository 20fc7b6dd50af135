import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestFeed } from '../../testing/test-feed.ts';
import { loadRecognitions } from './recognitions.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-03-01T00:00:00.000Z');
const tenantId = uuidv7();
const deploymentId = uuidv7();
const feed = createTestFeed({ tenantId });
const recognition = (time: number, of = deploymentId) => feed.recognition(of, time).statement;
let dataDir: string;
let output: string[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'recognitions-'));
  output = [];
});

afterEach(() => rmSync(dataDir, { recursive: true }));

const load = (keptMs = 0) =>
  loadRecognitions({
    path: join(dataDir, 'recognitions', tenantId),
    ...{ deploymentId, keptMs },
    log: {
      info: () => undefined,
      warn: (_, message) => output.push(message),
      error: () => undefined,
    },
  });

it('take statements as they are from a control plane that never recognised anybody', () => {
  expect(load().asOf(START)).toBe(START);
});

it('hold statements to the newest of them, over restarts too', () => {
  const recognitions = load();
  recognitions.note(recognition(START), START);
  expect(recognitions.asOf(START + 5 * MINUTE)).toBe(START);
  expect(recognitions.asOf(START - MINUTE)).toBe(START - MINUTE);
  // A replica whose own is a little older.
  recognitions.note(recognition(START - MINUTE), START - MINUTE);
  expect(recognitions.asOf(START + 5 * MINUTE)).toBe(START);
  recognitions.note(recognition(START + 4 * MINUTE), START + 4 * MINUTE);
  expect(recognitions.asOf(START + 5 * MINUTE)).toBe(START + 4 * MINUTE);

  const restarted = load(START + 4 * MINUTE);
  expect(restarted.asOf(START + 9 * MINUTE)).toBe(START + 4 * MINUTE);
});

it('refuse one of another data plane', () => {
  const recognitions = load();
  expect(() => recognitions.note(recognition(START, uuidv7()), START)).toThrow(
    expect.objectContaining({ code: 'statement_wrong_deployment' }),
  );
  expect(recognitions.asOf(START)).toBe(START);
});

it('count though they cannot be kept', () => {
  writeFileSync(join(dataDir, 'recognitions'), 'in the way');
  const recognitions = load();
  recognitions.note(recognition(START), START);
  expect(recognitions.asOf(START + MINUTE)).toBe(START);
  expect(output).toEqual(['the recognition was not kept']);
});
