import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { storeFileDurably, writeFileDurably } from './durable-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'governance-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each([
  [
    'writeFileDurably',
    async (...given: Parameters<typeof writeFileDurably>) => writeFileDurably(...given),
  ],
  ['storeFileDurably', storeFileDurably],
])('%s', (name, write) => {
  it('replaces a file, which only its owner reads', async () => {
    const file = join(folder, name);
    await write(file, 'old');
    await write(file, Buffer.from('new'));
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('leaves nothing behind where it fails', async () => {
    const taken = join(folder, `${name}-taken`);
    mkdirSync(join(taken, 'inside'), { recursive: true });
    const before = readdirSync(folder);
    await expect(write(taken, 'x')).rejects.toThrow();
    expect(readdirSync(folder)).toEqual(before);
    await expect(write(join(folder, 'absent', 'x'), 'x')).rejects.toThrow('ENOENT');
  });
});
