import type { KeyEntry, KeyPurpose } from '@governance/shared/evidence/evidence-keys';
import type { ServiceKeyPurpose, ServiceKeys } from '../platform/keys.ts';

const PURPOSES = {
  'evidence-signing': 'evidence',
  'checkpoint-signing': 'checkpoint',
  'bundle-signing': 'bundle',
  'batch-signing': 'batch',
} as const satisfies Partial<Record<ServiceKeyPurpose, KeyPurpose>>;

export type EvidencePurpose = keyof typeof PURPOSES;
export const EVIDENCE_PURPOSES = Object.keys(PURPOSES) as EvidencePurpose[];

/** The service's keys of these purposes, the oldest first, each with the time in which it signs. */
export async function listKeyEntries(
  serviceKeys: Pick<ServiceKeys, 'listKeys'>,
  wanted: readonly EvidencePurpose[] = EVIDENCE_PURPOSES,
): Promise<KeyEntry[]> {
  const keys = await serviceKeys.listKeys(wanted);
  return keys.flatMap(({ kid, purpose, publicJwk, from, to }) => {
    const named = wanted.find((one) => one === purpose);
    if (!named) return [];
    return {
      kid,
      purpose: PURPOSES[named],
      jwk: publicJwk,
      valid_from: from.toISOString(),
      valid_to: to?.toISOString() ?? null,
      revoked_at: null,
    };
  });
}
