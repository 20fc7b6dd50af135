/**
 * Verifies each package in its own thread, limited in time and memory, so that no package blocks or
 * fills the service.
 */
import type { EvidenceTrust } from '@governance/shared/evidence/checks/evidence';
import { spawnWorker } from '@governance/shared/process/spawn-worker';
import { abandonedResult, type VerificationResult } from './verify-package.ts';

export interface RunLimits {
  timeoutMs: number;
  memoryMb: number;
}

const RUN_LIMITS: RunLimits = { timeoutMs: 30_000, memoryMb: 256 };

/**
 * Verifies a package.
 *
 * @param bytes the package, which the thread takes over
 * @returns its result; one that says so if time or memory ran out
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
      settle(abandonedResult('the verification exceeded its memory limit')),
    );
    worker.once('exit', () => settle(abandonedResult('the verification ended')));
  });
}
