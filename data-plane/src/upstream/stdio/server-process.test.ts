import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it('a process that ignores SIGTERM does not outlive a service that exits at once', async () => {
  const stubborn = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up');`;
  const service = `
    const { spawnServer } = await import(${JSON.stringify(new URL('./server-process.ts', import.meta.url).href)});
    const child = spawnServer({ command: process.execPath, args: ['-e', ${JSON.stringify(stubborn)}], env: {} });
    child.stdout.once('data', () => {
      console.log(child.pid);
      process.exit(1);
    });`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', service];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((exited) => exited);
  const pid = Number(stdout);
  expect(pid).toBeGreaterThan(0);
  await expect.poll(() => isRunning(pid)).toBe(false);
});
