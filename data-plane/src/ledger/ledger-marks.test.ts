import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { marksPath, openMarks, readMarks, type StreamMark } from './ledger-marks.ts';

let folder: string;
let ledger: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'marks-'));
  ledger = join(folder, 'ledger.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const LINE_BYTES = 512;
const place = (seq: number) => ({ epoch: 1, seq, head: 'a'.repeat(64) });
const aMark = (seq: number, streamNo = 1): StreamMark => ({
  ...{ stream_no: streamNo, tenant_id: uuidv7(), stream: uuidv7() },
  ...{ end: place(seq), shipped: null },
});

/** Overwrites the second half of a line, as a write that a power failure cut short leaves it. */
function tear(line: number): void {
  const bytes = readFileSync(marksPath(ledger));
  bytes.fill('x', line * LINE_BYTES + LINE_BYTES / 4, (line + 1) * LINE_BYTES);
  writeFileSync(marksPath(ledger), bytes);
}

function writeTwo(): { older: StreamMark; newer: StreamMark } {
  const older = aMark(1);
  const newer = { ...older, end: place(2), shipped: place(1) };
  const marks = openMarks(ledger, [older]);
  marks.write(newer);
  marks.close();
  return { older, newer };
}

it('of the two lines of a stream the newer one counts', () => {
  const { newer } = writeTwo();
  expect(readMarks(ledger)).toEqual([newer]);
});

it('a torn line leaves the other one', () => {
  const { older } = writeTwo();
  tear(1);
  expect(readMarks(ledger)).toEqual([older]);
});

it('is refused where both lines of a stream are torn', () => {
  writeTwo();
  tear(1);
  tear(2);
  expect(() => readMarks(ledger)).toThrow(/-marks is unreadable about stream number 1/);
});

it('after a start the first write is newer than all before it', () => {
  const { newer } = writeTwo();
  const marks = openMarks(ledger, [newer]);
  const next = { ...newer, end: place(3) };
  marks.write(next);
  marks.close();
  expect(readMarks(ledger)).toEqual([next]);
});
