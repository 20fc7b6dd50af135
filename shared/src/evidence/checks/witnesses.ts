/** What others than the issuer say of the log. */
import { isCosignedBy, parseSignature } from '../checkpoint.ts';
import { checkpointMember, EVIDENCE_MEMBERS } from '../evidence-package.ts';
import { type Check, createTally } from './check.ts';
import type { Evidence } from './evidence.ts';
import { lineOf } from './location.ts';

/** `witness.quorum`: more than half of the anchor's witnesses cosigned the checkpoint. */
export function checkWitnesses(evidence: Evidence): Check {
  const tally = createTally('witness.quorum');
  const seen = new Set<string>();

  function add(line: Parameters<typeof isCosignedBy>[1]): void {
    const signed = evidence.checkpoints.get(evidence.manifest.log.end);
    for (const witness of evidence.trust.anchor?.witnesses ?? []) {
      if (signed && isCosignedBy(signed.body, line, witness)) seen.add(witness.name);
    }
  }
  return {
    name: 'witness.quorum',
    documents: () => {
      const { manifest, checkpoints } = evidence;
      for (const line of checkpoints.get(manifest.log.end)?.signatures ?? []) add(line);
    },
    witness: ({ line, value }) => {
      if (value.size !== evidence.manifest.log.end) return;
      try {
        add(parseSignature(value.cosignature));
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
        tally.fail('not more than half of the witnesses cosigned the checkpoint', { member });
      }
      return tally.result();
    },
  };
}

/** `time.stamp`: version 1 of the format carries no timestamp of a third party. */
export function checkTimestamp(): Check {
  const tally = createTally('time.stamp');
  tally.skip('no timestamp supplied');
  return { name: 'time.stamp', end: () => tally.result() };
}
