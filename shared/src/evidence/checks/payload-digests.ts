/** `payload.digests`: the payloads shown match the digests in the chain. */
import { payloadDigest } from '../event-payload.ts';
import { EVIDENCE_MEMBERS, VOLUME_LIMITS } from '../evidence-package.ts';
import type { Check, Tally } from './check.ts';
import type { Evidence } from './evidence.ts';
import { lineOf } from './location.ts';

/** Skipped where the scope leaves payloads out. */
export function checkPayloads(tally: Tally, evidence: Evidence): Check {
  const { payloads: member, events } = EVIDENCE_MEMBERS;
  /** How many records name it that are not shown yet: data planes may give an event id twice. */
  const named = new Map<string, number>();
  let left = 0;
  return {
    documents: () => {
      if (!evidence.manifest.scope.include_payloads) tally.skip('the package has no payloads');
    },
    event: ({ line, record }) => {
      if (!evidence.manifest.scope.include_payloads) return;
      if (record?.type !== 'decision' && record?.type !== 'outcome') return;
      const digest = record.v === 2 ? record.payload_digest : null;
      if (digest === null) return;
      if (left >= VOLUME_LIMITS.payloads) {
        tally.fail('there are more payloads than a volume may have', lineOf(events, line));
        return;
      }
      const place = record.type === 'decision' ? `${record.id}/input` : `${record.event_id}/result`;
      const key = `${place}/${digest}`;
      named.set(key, (named.get(key) ?? 0) + 1);
      left++;
    },
    payload: ({ line, value }) => {
      const { event_id, part, salt, payload } = value;
      const location = lineOf(member, line);
      const digest = payloadDigest(Buffer.from(salt, 'base64url'), payload);
      const key = `${event_id}/${part}/${digest}`;
      const records = named.get(key) ?? 0;
      if (!evidence.manifest.scope.include_payloads) {
        tally.fail('the manifest names no payloads', location);
      } else if (records === 0) tally.fail('no record names this payload', location);
      else {
        named.set(key, records - 1);
        left--;
        tally.ok();
      }
    },
    end: () => {
      if (left > 0) tally.note(`${left} more are not kept or not shown`);
    },
  };
}
