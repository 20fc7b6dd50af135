/** Who signed a batch: the stream's writer, or for a stream without a writer the control plane. */
import { isBatchSignedBy } from '../../ledger/audit-batch.ts';
import { type BatchLine, EVIDENCE_MEMBERS } from '../evidence-package.ts';
import type { Evidence } from './evidence.ts';
import type { KnownKey, WriterEntry } from './keyset.ts';
import { lineOf } from './location.ts';

/**
 * Failed key attempts allowed in a package: no stream needs more, and each costs a verification.
 */
const MAX_MISSES = 20_000;

/**
 * A key that may have signed a batch; for a data plane's stream, with the key that vouches for it.
 */
interface Candidate {
  key: KnownKey;
  writer?: WriterEntry;
}

/** @returns the key whose signature holds; undefined when none does */
export function createSignerSearch(
  evidence: Evidence,
): (batch: BatchLine, line: number) => KnownKey | undefined {
  const used = new Set<KnownKey>();
  const candidates = new Map<string, Candidate[]>();
  /** By stream. Tried first, since the next batch usually has the same key. */
  const latest = new Map<string, Candidate>();
  let misses = 0;

  /** The keys that may sign a stream, trusted ones first. */
  function candidatesOf(stream: string): Candidate[] {
    const known = candidates.get(stream);
    if (known) return known;
    const { keyset, manifest } = evidence;
    const writers = keyset.writers(stream);
    const found: Candidate[] =
      writers.length === 0
        ? keyset.all('batch').map((key) => ({ key }))
        : writers
            .filter((one) => one.vouchedBy && one.statement.tenant_id === manifest.tenant_id)
            .map((writer) => ({ key: writer.key, writer }));
    found.sort((a, b) => Number(b.key.isAnchored) - Number(a.key.isAnchored));
    candidates.set(stream, found);
    return found;
  }

  function find({ header, signature }: BatchLine): Candidate | undefined {
    const isOf = ({ key }: Candidate): boolean => {
      const parsed = evidence.keyset.publicKey(key);
      return parsed !== undefined && isBatchSignedBy(parsed, header, signature);
    };
    const before = latest.get(header.stream);
    if (before && isOf(before)) return before;
    for (const one of candidatesOf(header.stream)) {
      if (misses >= MAX_MISSES) return undefined;
      if (isOf(one)) {
        latest.set(header.stream, one);
        return one;
      }
      misses++;
    }
    return undefined;
  }

  return (batch, line) => {
    const found = find(batch);
    if (!found || used.has(found.key)) return found?.key;
    const { key, writer } = found;
    used.add(key);
    const location = lineOf(EVIDENCE_MEMBERS.batches, line);
    // The records say when it was signed: keys.validity checks each.
    evidence.use({ key, notBefore: null, signedAt: null, vouchesFor: '', location });
    if (!writer?.vouchedBy) return key;
    // Each statement separately: one key signs many, each at or after its writer's registration.
    evidence.use({
      key: writer.vouchedBy,
      notBefore: null,
      signedAt: writer.statement.registered_at,
      vouchesFor: null,
      location: writer.location,
    });
    return key;
  };
}
