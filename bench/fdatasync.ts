import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The median time of a 4 KiB write and its fdatasync here, in milliseconds: the lower bound for a
 * lone governed call.
 */
export function fdatasyncP50(rounds = 200): number {
  const folder = mkdtempSync(join(tmpdir(), 'fdatasync-'));
  const file = openSync(join(folder, 'file'), 'w');
  const page = Buffer.alloc(4096, 1);
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const at = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    times.push(performance.now() - at);
  }
  closeSync(file);
  rmSync(folder, { recursive: true });
  return times.sort((a, b) => a - b)[rounds >> 1] ?? 0;
}
