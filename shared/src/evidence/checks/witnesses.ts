/** What parties other than the issuer say about the log. */
import { isCosignedBy, type NoteSignature, parseSignature } from '../checkpoint.ts';
import { checkpointMember, EVIDENCE_MEMBERS } from '../evidence-package.ts';
import { isConsistent } from '../merkle-proofs.ts';
import type { Check, Tally } from './check.ts';
import type { Evidence } from './evidence.ts';
import { lineOf } from './location.ts';

/**
 * `witness.quorum`: more than half of the anchor's witnesses cosigned the checkpoint, or a later
 * one that the package proves to continue it. Whoever cosigned the larger tree has vouched for the
 * smaller one in it.
 */
export function checkWitnesses(tally: Tally, evidence: Evidence): Check {
  const seen = new Set<string>();
  /** By size: the signed text of the checkpoints that count. */
  const bodies = new Map<number, string>();

  function add(size: number, line: NoteSignature): void {
    const body = bodies.get(size);
    for (const witness of evidence.trust.anchor?.witnesses ?? []) {
      if (body !== undefined && isCosignedBy(body, line, witness)) seen.add(witness.name);
    }
  }
  return {
    documents: () => {
      for (const [size, { body, signatures }] of evidence.checkpoints) {
        if (!continuesPackage(evidence, size)) continue;
        bodies.set(size, body);
        for (const line of signatures) add(size, line);
      }
    },
    witness: ({ line, value }) => {
      try {
        add(value.size, parseSignature(value.cosignature));
      } catch {
        tally.fail('the line is no cosignature', lineOf(EVIDENCE_MEMBERS.witness, line));
      }
    },
    end: () => {
      const names = new Set((evidence.trust.anchor?.witnesses ?? []).map(({ name }) => name));
      tally.ok(seen.size);
      if (names.size === 0) tally.skip('no witnesses are named by an anchor');
      else if (seen.size <= names.size / 2) {
        const member = checkpointMember(evidence.manifest.log.end);
        const what = 'not more than half of the witnesses cosigned the checkpoint or a later one';
        tally.fail(what, { member });
      }
    },
  };
}

/** Whether the checkpoint of that name is the package's own, or proven to continue it. */
function continuesPackage({ manifest, checkpoints, proofs }: Evidence, size: number): boolean {
  const { origin, end } = manifest.log;
  const [own, later] = [end, size].map((at) => {
    const checkpoint = checkpoints.get(at)?.checkpoint;
    return checkpoint?.origin === origin && checkpoint.size === at ? checkpoint.root : undefined;
  });
  if (own === undefined || later === undefined) return false;
  if (size === end) return true;
  const proof = proofs.consistency.find(({ from, to }) => from === end && to === size);
  if (!proof) return false;
  return isConsistent({ from: end, to: size, fromRoot: own, toRoot: later, path: proof.path });
}

/** `time.stamp`: version 1 of the format has no third-party timestamps. */
export function checkTimestamp(tally: Tally): Check {
  tally.skip('no timestamp supplied');
  return {};
}
