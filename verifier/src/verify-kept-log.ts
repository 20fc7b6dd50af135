/** Checks what a data plane kept of a log (`verify --kept`). Proven by verify-kept-log.test.ts. */
import { checkKeptLog, KeptLog, type KeptLogResult } from '@governance/shared/evidence/kept-log';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { parseStrictJson } from '@governance/shared/json/strict-json';

/** The maximum size of a file: a data plane keeps a thousand checkpoints. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const MAX_NODES = 2_000_000;
const MAX_DEPTH = 32;

export const KEPT_EXIT_CODES = {
  CONSISTENT: 0,
  CONTRADICTED: 1,
  NOT_VERIFIED: 1,
  UNDECIDED: 3,
} as const;

/**
 * @param bytes caller-controlled
 * @throws Error when it is not such a file
 */
export function verifyKeptLog(bytes: Uint8Array, anchor: TrustAnchor | null): KeptLogResult {
  if (bytes.length > MAX_KEPT_BYTES) throw new Error('the file is too large');
  const kept = KeptLog.parse(parseStrictJson(bytes, { maxDepth: MAX_DEPTH, maxNodes: MAX_NODES }));
  return checkKeptLog(kept, anchor);
}

/** The result as text: only ids, numbers, hashes and our own words. */
export function keptLogText(result: KeptLogResult): string {
  const { highest } = result;
  const lines = [
    `VERDICT: ${result.verdict}`,
    `DATA-PLANE: ${result.deployment_id}  TENANT: ${result.tenant_id}  CHECKPOINTS: ${result.checkpoints}`,
    highest
      ? `HIGHEST: log epoch ${highest.epoch}, tree ${highest.size}, root ${highest.root}`
      : 'HIGHEST: none is signed',
    ...result.faults.map((fault) => `[FAIL] ${fault}`),
    ...result.proven.map((one) => `[PROVEN] ${one}`),
    ...result.open.map((one) => `[OPEN] ${one}`),
    `NOTICE: ${result.notice}`,
  ];
  return `${lines.join('\n').replaceAll('’', "'")}\n`;
}
