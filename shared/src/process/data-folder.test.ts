import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const NOBODY = 65_534;

/** In a process of its own: another user's rights are those of a whole process. */
function placeAsNobody(dataDir: string): string {
  const source = JSON.stringify(new URL('./data-folder.ts', import.meta.url).href);
  const config = { dataDir, host: '127.0.0.1', port: 0, publicUrl: 'http://localhost' };
  const code = `const { tryPlace } = await import(${source});
try {
  await tryPlace(${JSON.stringify(config)});
  console.log('usable');
} catch (error) {
  console.log(error.message);
}`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', code];
  const env = { ...process.env, HOME: dataDir, TMPDIR: dataDir };
  const ran = spawnSync(process.execPath, args, {
    ...{ uid: NOBODY, gid: NOBODY, env, encoding: 'utf8' as const, timeout: 30_000 },
  });
  return `${ran.stdout}${ran.stderr}`.trim();
}

it.runIf(process.getuid?.() === 0)('names a file of another user in the data folder', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'governance-folder-'));
  try {
    chownSync(dataDir, NOBODY, NOBODY);
    expect(placeAsNobody(dataDir)).toBe('usable');
    const file = join(dataDir, 'clock');
    writeFileSync(file, '1', { mode: 0o600 });
    expect(placeAsNobody(dataDir)).toBe(
      `${file} belongs to another user: start the service as that user, or give it to this one (chown -R ${NOBODY} ${dataDir})`,
    );
    chmodSync(file, 0o644);
    expect(placeAsNobody(dataDir)).toBe('usable');
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});
