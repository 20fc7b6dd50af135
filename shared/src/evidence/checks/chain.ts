/** The hash chain of each stream, in contiguous packages, which hold their streams without gaps. */
import { EVIDENCE_MEMBERS } from '../evidence-package.ts';
import type { Check, Tally } from './check.ts';
import { type ChainFaults, type Evidence, recordsOf } from './evidence.ts';
import { lineOf } from './location.ts';

const SELECTIVE = 'the package is selective: its records stand alone';

function checkFault(
  tally: Tally,
  evidence: Evidence,
  fault: keyof ChainFaults,
  findAtEnd: () => string | undefined = () => undefined,
): Check {
  return {
    documents: () => {
      if (evidence.manifest.scope.kind === 'selective') tally.skip(SELECTIVE);
    },
    event: ({ line, chain }) => tally.judge(chain[fault], EVIDENCE_MEMBERS.events, line),
    eventsEnd: () => {
      const found = findAtEnd();
      if (found !== undefined) tally.fail(found, { member: EVIDENCE_MEMBERS.events });
    },
  };
}

/** `chain.sequence`: numbers without a gap. */
export const checkSequence = (tally: Tally, evidence: Evidence): Check =>
  checkFault(tally, evidence, 'sequence', () =>
    evidence.isRepetitionCut ? 'a repetition is cut off' : undefined,
  );

/** `chain.links`: each record names the hash of the one before it. */
export const checkLinks = (tally: Tally, evidence: Evidence): Check =>
  checkFault(tally, evidence, 'link');

/** `chain.epochs`: each epoch names the end of the one before it. */
export const checkEpochs = (tally: Tally, evidence: Evidence): Check =>
  checkFault(tally, evidence, 'epoch');

/** `chain.start`: each stream begins with its first record, or after a record that is shown. */
export const checkStart = (tally: Tally, evidence: Evidence): Check =>
  checkFault(tally, evidence, 'start');

interface Ends {
  first: { epoch: number; seq: number; prev_hash: string };
  last: { epoch: number; seq: number; hash: string };
  records: number;
  line: number;
}

/** `chain.head`: each stream begins and ends where manifest and batches say. */
export function checkHead(tally: Tally, evidence: Evidence): Check {
  const { manifest: member, events } = EVIDENCE_MEMBERS;
  const streams = new Map<string, Ends>();
  return {
    event: ({ line, place, hash, batch, index, isRepeated }) => {
      if (batch && index === recordsOf(batch) - 1) {
        if (batch.head === hash) tally.ok();
        else tally.fail('the batch ends with another record', lineOf(events, line));
      }
      if (isRepeated) return;
      const stream = place?.stream ?? batch?.stream;
      if (stream === undefined) return;
      const epoch = place?.epoch ?? batch?.epoch ?? 0;
      const seq = place?.seq ?? (batch ? batch.firstSeq + index : 0);
      const known = streams.get(stream);
      const last = { epoch, seq, hash };
      if (known) Object.assign(known, { last, records: known.records + 1, line });
      else {
        const first = { epoch, seq, prev_hash: place?.prev_hash ?? batch?.prevHead ?? '' };
        streams.set(stream, { first, last, records: 1, line });
      }
    },
    end: () => {
      const listed = evidence.manifest.streams;
      for (const [i, expected] of listed.entries()) {
        const actual = streams.get(expected.stream);
        const location = { member, path: `streams/${i}` };
        if (!actual) tally.fail('no record of the stream is there', location);
        else if (!isSame(expected, actual)) {
          tally.fail('the stream does not begin or end there', location);
        } else tally.ok();
        streams.delete(expected.stream);
      }
      const [other] = streams.values();
      if (other) tally.fail('the manifest does not name the stream', lineOf(events, other.line));
    },
  };
}

function isSame(expected: Evidence['manifest']['streams'][number], actual: Ends): boolean {
  const { first, last, records } = expected;
  return (
    records === actual.records &&
    first.epoch === actual.first.epoch &&
    first.seq === actual.first.seq &&
    first.prev_hash === actual.first.prev_hash &&
    last.epoch === actual.last.epoch &&
    last.seq === actual.last.seq &&
    last.hash === actual.last.hash
  );
}
