/** Who signed a batch: the stream's writer; for a stream that no writer has, the control plane. */
import { isBatchSignedBy } from '../../audit-batch.ts';
import { type BatchLine, EVIDENCE_MEMBERS } from '../evidence-package.ts';
import type { Evidence } from './evidence.ts';
import type { KnownKey, WriterEntry } from './keyset.ts';
import { lineOf } from './location.ts';

/** Keys that are tried in vain, in a package: more are no stream's, and each costs a verification. */
const MAX_MISSES = 20_000;

/** A key that may have signed a batch; of a data plane's stream, with who says so. */
interface Candidate {
  key: KnownKey;
  writer?: WriterEntry;
}

/** @returns the key whose signature holds; undefined: nobody's does */
export function createSignerSearch(
  evidence: Evidence,
): (batch: BatchLine, line: number) => KnownKey | undefined {
  const used = new Set<KnownKey>();
  const candidates = new Map<string, Candidate[]>();
  /** By stream: tried first, since the next batch is most often by the same key. */
  const latest = new Map<string, Candidate>();
  let misses = 0;

  /** Those that may sign a stream, the trusted ones first. */
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
    // Its records say when it was: keys.validity looks at each.
    evidence.use({ key, notBefore: null, signedAt: null, vouchesFor: '', location });
    if (!writer?.vouchedBy) return key;
    // Each statement by itself: one key makes many, and each when its writer registered or later.
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
