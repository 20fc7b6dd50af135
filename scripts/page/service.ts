/** The verification service in a separate process, as in production. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { projectRoot } from '@governance/shared/process/assets';

/** @returns its address, and a function that ends it */
export async function startVerifier(): Promise<{ url: string; close(): Promise<void> }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'verifier/src/verifier-service.ts'], {
    cwd: projectRoot,
    // Ignores the settings of the caller's environment.
    env: { PATH: '/usr/bin:/bin', VERIFIER_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /service: (http:\/\/\S+)$/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error('the verification service has ended')));
  });
  return {
    url,
    close: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
