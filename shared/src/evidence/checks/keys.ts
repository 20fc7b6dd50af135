/** Each key that signed: whether it is trusted, and was valid at the time. */
import { EVIDENCE_MEMBERS } from '../evidence-package.ts';
import { type Check, isBefore, type Tally } from './check.ts';
import type { BatchView, Evidence } from './evidence.ts';
import type { KeyUse, KnownKey } from './keyset.ts';
import { type Location, lineOf } from './location.ts';

/** `keys.anchored`: it is one of the anchor's keys, or follows from one by rotations. */
export function checkAnchored(tally: Tally, evidence: Evidence): Check {
  const counted = new Set<KnownKey>();
  return {
    documents: () => {
      if (evidence.independence === 'self-asserted') {
        tally.skip('no anchor was given, and the issuer is not known here');
      }
    },
    keyUse: ({ key, location }) => {
      if (counted.has(key) || evidence.independence === 'self-asserted') return;
      counted.add(key);
      if (key.isAnchored) tally.ok();
      else tally.fail('the key is not one of the trusted keys, nor follows from one', location);
    },
  };
}

/** Why a key was not valid for a signature. */
function findInvalid({ key, notBefore, signedAt, vouchesFor }: KeyUse): string | undefined {
  if (key.revokedAt !== null && (vouchesFor === null || vouchesFor >= key.revokedAt)) {
    return 'the key was revoked';
  }
  if (notBefore !== null && key.validFrom !== null && isBefore(notBefore, key.validFrom)) {
    return 'the key was not valid yet';
  }
  if (signedAt !== null && key.validTo !== null && isBefore(key.validTo, signedAt)) {
    return 'the key was no longer valid';
  }
  return undefined;
}

/**
 * `keys.validity`: it was valid, and is not revoked. Whoever holds the key of a checkpoint or
 * manifest can sign any time, so its revocation invalidates everything; a batch's time is bound by
 * the log. A data plane's key is revoked where two writers had it: what the stream says afterwards
 * is true of one of them (ADR 92). A data plane decides by the bundle that it has until it hears that
 * its key was revoked.
 */
export function checkValidity(tally: Tally, evidence: Evidence): Check {
  /** Selective packages, whose proofs later tell which batch a record is in: milliseconds. */
  const times: number[] = [];

  function checkRecord(batch: BatchView | undefined, at: string, location: Location): void {
    const key = batch?.signer;
    if (!key || (key.revokedAt === null && key.validTo === null)) return;
    const use = { key, notBefore: null, signedAt: at, vouchesFor: at, location };
    const invalid = findInvalid(use);
    if (invalid === undefined) return;
    if (key.purpose === 'writer') {
      tally.warn(`two writers had the key of the stream ${batch.stream}`, location);
    } else tally.fail(invalid, location);
  }

  /** Whoever takes a revocation back lets the key sign again. */
  function isAdmitted({ key: { kid, purpose }, vouchesFor }: KeyUse): boolean {
    return evidence.keys.keys.some(
      (own) =>
        own.kid === kid &&
        own.purpose === purpose &&
        own.revoked_at !== null &&
        own.revoked_at <= (vouchesFor ?? ''),
    );
  }

  return {
    keyUse: (use) => {
      const invalid = findInvalid(use);
      if (invalid === undefined) tally.ok();
      else if (use.decidedBy !== undefined && isAdmitted(use)) {
        const warning = `the stream ${use.decidedBy} decided by a bundle whose key was revoked`;
        tally.warn(warning, use.location);
      } else tally.fail(invalid, use.location);
    },
    event: ({ line, batch, place }) => {
      if (evidence.manifest.scope.kind === 'selective') {
        times.push(place ? Date.parse(place.timestamp) : Number.NaN);
      } else if (place) {
        checkRecord(batch, place.timestamp, lineOf(EVIDENCE_MEMBERS.events, line));
      }
    },
    eventProof: ({ line, value }) => {
      const at = times[line - 1];
      if (at === undefined || Number.isNaN(at)) return;
      const batch = evidence.batches.get(value.leaf_index);
      checkRecord(batch, new Date(at).toISOString(), lineOf(EVIDENCE_MEMBERS.events, line));
    },
    cause: ({ line, batch, place }) => {
      if (place) checkRecord(batch, place.timestamp, lineOf(EVIDENCE_MEMBERS.causes, line));
    },
  };
}
