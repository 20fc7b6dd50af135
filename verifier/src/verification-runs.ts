/**
 * Verifies packages in threads of their own, with a limit on time and memory each, so that no package
 * holds up or fills the service.
 */
import type { EvidenceTrust } from '@governance/shared/evidence/checks/evidence';
import { spawnWorker } from '@governance/shared/spawn-worker';
import { abandonedResult, type VerificationResult } from './verify-package.ts';

export interface RunLimits {
  timeoutMs: number;
  memoryMb: number;
}

export const RUN_LIMITS: RunLimits = { timeoutMs: 30_000, memoryMb: 256 };

/**
 * Verifies a package.
 *
 * @param bytes the package, which the thread takes over
 * @returns its result; one that says so where time or memory were not enough
 */
export function runVerification(
  bytes: Uint8Array,
  trust: EvidenceTrust,
  { timeoutMs, memoryMb }: RunLimits = RUN_LIMITS,
): Promise<VerificationResult> {
  return new Promise((resolve) => {
    const own = new Uint8Array(bytes);
    const worker = spawnWorker(import.meta.url, 'verification-worker', {
      workerData: { bytes: own, ...trust },
      transferList: [own.buffer],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const settle = (result: VerificationResult) => {
      clearTimeout(timer);
      resolve(result);
      void worker.terminate();
    };
    const timer = setTimeout(
      () => settle(abandonedResult('the verification took too long')),
      timeoutMs,
    );
    worker.once('message', settle);
    worker.once('error', () =>
      settle(abandonedResult('the verification could not be finished in its memory')),
    );
    worker.once('exit', () => settle(abandonedResult('the verification ended')));
  });
}
