/** Who signed a batch: the stream's writer; for a stream that no writer has, the control plane. */
import { isBatchSignedBy } from '../../audit-batch.ts';
import { type BatchLine, EVIDENCE_MEMBERS } from '../evidence-package.ts';
import type { Evidence } from './evidence.ts';
import type { KeyUse, KnownKey } from './keyset.ts';
import { lineOf } from './location.ts';

/** @returns the key whose signature holds; undefined: nobody's does */
export function createSignerSearch(
  evidence: Evidence,
): (batch: BatchLine, line: number) => KnownKey | undefined {
  const used = new Set<KnownKey>();

  /** Once a key: a stream has many batches. */
  function use(told: KeyUse): void {
    if (used.has(told.key)) return;
    used.add(told.key);
    evidence.use(told);
  }

  return ({ header, signature }, line) => {
    const { keyset } = evidence;
    const isOf = (key: KnownKey): boolean => {
      const parsed = keyset.publicKey(key);
      return parsed !== undefined && isBatchSignedBy(parsed, header, signature);
    };
    const location = lineOf(EVIDENCE_MEMBERS.batches, line);
    const whenever = { notBefore: null, signedAt: null };
    const writers = keyset.writers(header.stream);
    if (writers.length === 0) {
      const keys = keyset.all('batch').filter(isOf);
      const key = keys.find(({ isAnchored }) => isAnchored) ?? keys[0];
      // Its records say when it was: keys.validity looks at each.
      if (key) use({ key, ...whenever, vouchesFor: '', location });
      return key;
    }
    const found = writers.filter(
      ({ key, vouchedBy, statement }) =>
        vouchedBy && statement.tenant_id === header.tenant_id && isOf(key),
    );
    const writer = found.find(({ key }) => key.isAnchored) ?? found[0];
    if (!writer?.vouchedBy) return undefined;
    if (used.has(writer.key)) return writer.key;
    use({ key: writer.key, ...whenever, vouchesFor: '', location });
    // Each statement by itself: one key makes many, and each when its writer registered or later.
    evidence.use({
      key: writer.vouchedBy,
      notBefore: null,
      signedAt: writer.statement.registered_at,
      vouchesFor: null,
      location: writer.location,
    });
    return writer.key;
  };
}
