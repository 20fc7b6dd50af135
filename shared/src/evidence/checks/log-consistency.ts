/**
 * `log.consistency`: the log continues the one that the anchor pins. Only a proof between the two
 * trees decides: statements about restores explain where the log continued, are checked against the
 * tree themselves, and excuse no missing part. Proven by attacks.test.ts.
 */
import { logOrigin } from '../checkpoint.ts';
import { isStatementSignedBy, type SignedLogEpoch } from '../evidence-keys.ts';
import { EVIDENCE_MEMBERS } from '../evidence-package.ts';
import { isConsistent } from '../merkle-proofs.ts';
import type { Check, Tally } from './check.ts';
import type { Evidence } from './evidence.ts';
import type { Location } from './location.ts';

interface Place {
  size: number;
  root: string;
}

const location: Location = { member: EVIDENCE_MEMBERS.proofs, path: 'consistency' };
const epochsLocation: Location = { member: EVIDENCE_MEMBERS.keys, path: 'log_epochs' };

/** Skipped where no anchor pins the log. */
export function checkConsistency(tally: Tally, evidence: Evidence): Check {
  return {
    documents: () => {
      const { trust, manifest } = evidence;
      const pinned = trust.anchor?.log;
      if (!pinned) {
        tally.skip('no anchor pins the log');
        return;
      }
      const { size, epoch } = pinned;
      if (pinned.origin !== logOrigin(trust.anchor?.tenant_id ?? '', epoch)) {
        tally.fail('the anchor pins another log', location);
        return;
      }
      const isNewer = epoch === manifest.log.epoch && size > manifest.log.end;
      const leads = holdAgainst(evidence, pinned);
      if (epoch > manifest.log.epoch || (isNewer && leads === undefined)) {
        tally.skip('the anchor is newer than the package, which does not lead to it');
        return;
      }
      const restores = followRestores(evidence, epoch);
      if (typeof restores === 'string') {
        tally.fail(restores, epochsLocation);
      } else if (leads) {
        // Even what a restore lost: its leaves were appended again, each the same in its place.
        tally.ok();
      } else if (size > restores.kept || restores.epoch < epoch) {
        const { time, kept } = restores;
        const detail = `the anchor is of a part of the log that a restore lost: announced at ${time}, which kept ${kept} leaves`;
        tally.fail(detail, epochsLocation);
      } else if (leads === undefined) {
        tally.fail('no proof begins where the anchor is', location);
      } else {
        tally.fail(
          `the log does not continue the one that the anchor pins${sayRestore(restores)}`,
          location,
        );
      }
    },
  };
}

/**
 * Whether the package's tree and that of another place are one tree at two sizes.
 *
 * @returns undefined when the package has no proof of it
 */
function holdAgainst({ manifest, checkpoints, proofs }: Evidence, place: Place) {
  const { end } = manifest.log;
  const own = { size: end, root: checkpoints.get(end)?.checkpoint.root ?? '' };
  const [first, last] = place.size > end ? [own, place] : [place, own];
  const [from, to] = [first.size, last.size];
  const proof = proofs.consistency.find((one) => one.from === from && one.to === to);
  const path = proof?.path ?? (from === to || from === 0 ? [] : undefined);
  if (path === undefined) return undefined;
  return isConsistent({ from, to, fromRoot: first.root, toRoot: last.root, path });
}

interface Restores {
  /** Where the walk ended: below the anchor's epoch if a restore lost that whole epoch. */
  epoch: number;
  /** Leaves of the anchor's epoch that every later restore kept. */
  kept: number;
  /** When the restore that kept the fewest was announced. */
  time: string;
}

/** An older backup may have outgrown the anchor's size again before its restore was announced. */
function sayRestore({ time, kept }: Restores): string {
  return time === '' ? '' : `; a restore was announced at ${time}, when it had ${kept} leaves`;
}

/**
 * Walks back from the package's epoch to the anchor's, over the statement that began each.
 *
 * @returns what is wrong with them, in words
 */
function followRestores(evidence: Evidence, anchored: number): Restores | string {
  const { keys, keyset, manifest } = evidence;
  const at: Restores = { epoch: manifest.log.epoch, kept: Number.POSITIVE_INFINITY, time: '' };
  while (at.epoch > anchored) {
    const isOf = ({ statement }: SignedLogEpoch) =>
      statement.epoch === at.epoch && statement.tenant_id === manifest.tenant_id;
    const index = keys.log_epochs.findIndex(isOf);
    const signed = keys.log_epochs[index];
    const key = signed && keyset.find('checkpoint', signed.kid);
    if (!signed || !key || !isStatementSignedBy(key.jwk, signed)) {
      return 'no signed statement says how the log went on after a restore';
    }
    if (keys.log_epochs.findLastIndex(isOf) !== index) return 'two statements begin one log epoch';
    const { time, restored } = signed.statement;
    evidence.use({
      key,
      notBefore: time,
      signedAt: time,
      vouchesFor: null,
      location: { ...epochsLocation, path: `log_epochs/${index}` },
    });
    if (restored.epoch >= at.epoch) return 'the log went on after a restore elsewhere';
    // What a later restore lost of it can no longer be compared.
    if (restored.size <= at.kept) {
      if (holdAgainst(evidence, restored) !== true) {
        return 'the log is not shown to go on from where it was restored';
      }
      Object.assign(at, { kept: restored.size, time });
    }
    at.epoch = restored.epoch;
  }
  return at;
}
