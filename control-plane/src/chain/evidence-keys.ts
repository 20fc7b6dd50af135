import type { KeyObject } from 'node:crypto';
import { type PublicJwk, readEd25519Key } from '@governance/shared/evidence/ed25519';
import type { ServiceKeys } from '../platform/keys/keys.ts';
import type { EvidenceKeys } from './log-places.ts';

/**
 * Every public key that signed the service's admin-chain batches, checkpoints or bundles. The
 * signatures of a key stay valid after its successor took over.
 */
export async function readEvidenceKeys(
  serviceKeys: Pick<ServiceKeys, 'listKeys'>,
): Promise<EvidenceKeys> {
  const keys = await serviceKeys.listKeys([
    'batch-signing',
    'checkpoint-signing',
    'bundle-signing',
  ]);
  const of = (wanted: string) => keys.filter(({ purpose }) => purpose === wanted);
  const named = (wanted: string) => of(wanted).map(({ kid, publicJwk: jwk }) => ({ kid, jwk }));
  return {
    batch: of('batch-signing').flatMap(({ publicJwk }) => readKey(publicJwk)),
    checkpoint: named('checkpoint-signing'),
    bundle: named('bundle-signing'),
  };
}

/** Returns none for a row that was tampered with; the key's signatures then do not verify. */
function readKey(jwk: PublicJwk): KeyObject[] {
  try {
    return [readEd25519Key(jwk)];
  } catch {
    return [];
  }
}
