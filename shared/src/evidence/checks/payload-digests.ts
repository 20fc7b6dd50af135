/** `payload.digests`: the payloads shown match the digests in the chain. */
import { payloadDigest } from '../../event-payload.ts';
import { EVIDENCE_MEMBERS, VOLUME_LIMITS } from '../evidence-package.ts';
import type { Check, Tally } from './check.ts';
import type { Evidence } from './evidence.ts';
import { lineOf } from './location.ts';

export function checkPayloads(tally: Tally, evidence: Evidence): Check {
  const { payloads: member, events } = EVIDENCE_MEMBERS;
  /** By `<event id>/<part>`, until it is shown. */
  const digests = new Map<string, string>();
  return {
    documents: () => {
      if (!evidence.manifest.scope.include_payloads) tally.skip('the package has no payloads');
    },
    event: ({ line, record }) => {
      if (!evidence.manifest.scope.include_payloads) return;
      if (record?.type !== 'decision' && record?.type !== 'outcome') return;
      const digest = record.v === 2 ? record.payload_digest : null;
      if (digest === null) return;
      const key = record.type === 'decision' ? `${record.id}/input` : `${record.event_id}/result`;
      if (digests.size < VOLUME_LIMITS.payloads) digests.set(key, digest);
      else tally.fail('there are more payloads than a volume may have', lineOf(events, line));
    },
    payload: ({ line, value }) => {
      const { event_id, part, salt, payload } = value;
      const key = `${event_id}/${part}`;
      const expected = digests.get(key);
      digests.delete(key);
      const location = lineOf(member, line);
      const actual = payloadDigest(Buffer.from(salt, 'base64url'), payload);
      if (!evidence.manifest.scope.include_payloads) {
        tally.fail('the manifest names no payloads', location);
      } else if (expected === undefined) tally.fail('no record names the payload', location);
      else if (expected !== actual) tally.fail('the payload is another one', location);
      else tally.ok();
    },
    end: () => {
      if (digests.size > 0) tally.say(`${digests.size} more are not kept or not shown`);
    },
  };
}
