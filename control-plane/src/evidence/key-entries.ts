import type { KeyEntry } from '@governance/shared/evidence/evidence-keys';
import { toKeyEntry } from '../platform/keys/key-history.ts';
import type { ServiceKeyPurpose, ServiceKeys } from '../platform/keys/keys.ts';

export const EVIDENCE_PURPOSES = [
  'evidence-signing',
  'checkpoint-signing',
  'bundle-signing',
  'batch-signing',
] as const satisfies ServiceKeyPurpose[];
export type EvidencePurpose = (typeof EVIDENCE_PURPOSES)[number];

/** The service's keys of these purposes, oldest first, each with its signing period. */
export async function listKeyEntries(
  serviceKeys: Pick<ServiceKeys, 'listKeys'>,
  wanted: readonly EvidencePurpose[] = EVIDENCE_PURPOSES,
): Promise<KeyEntry[]> {
  return (await serviceKeys.listKeys(wanted)).map(toKeyEntry);
}
