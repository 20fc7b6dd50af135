/** What data planes and packages are told of the service's keys. */
import type { KeyEntry } from '@governance/shared/evidence/evidence-keys';
import type { KeyHistory } from '@governance/shared/key-history';
import { type ServiceKeyPurpose, STATEMENT_PURPOSE } from './key-kinds.ts';
import type { DatedKey, ServiceKeys } from './keys.ts';

/** What data planes follow. */
const FOLLOWED = ['bundle-signing', 'feed-signing'] as const satisfies ServiceKeyPurpose[];

/** A key as statements and packages name it. */
export function toKeyEntry(key: DatedKey): KeyEntry {
  return {
    kid: key.kid,
    purpose: STATEMENT_PURPOSE[key.purpose],
    jwk: key.publicJwk,
    valid_from: key.from.toISOString(),
    valid_to: key.to?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}

/** Keys of these purposes, the oldest first, and their rotations. */
export async function readKeyHistory(
  serviceKeys: Pick<ServiceKeys, 'listKeys' | 'listRotations'>,
  purposes: readonly ServiceKeyPurpose[] = FOLLOWED,
): Promise<KeyHistory> {
  const keys = await serviceKeys.listKeys(purposes);
  const rotations = await serviceKeys.listRotations(purposes);
  return { keys: keys.map(toKeyEntry), rotations: rotations.map(({ signed }) => signed) };
}
