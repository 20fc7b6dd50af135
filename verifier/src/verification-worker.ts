/** A thread that verifies one package and ends; its parent may terminate it earlier. */
import { parentPort, workerData } from 'node:worker_threads';
import type { EvidenceTrust } from '@governance/shared/evidence/checks/evidence';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';

const { bytes, anchor, issuers } = workerData as EvidenceTrust & { bytes: Uint8Array };

async function* source(): AsyncGenerator<Uint8Array> {
  yield bytes;
}

parentPort?.postMessage(await verifyPackage(source(), { anchor, issuers, limits: SERVICE_LIMITS }));
