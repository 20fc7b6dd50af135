/** Each record by itself: its bytes, its schema, and its tenant. */
import { logOrigin } from '../checkpoint.ts';
import { EVIDENCE_MEMBERS } from '../evidence-package.ts';
import type { Check, Tally } from './check.ts';
import type { Evidence } from './evidence.ts';
import { lineOf } from './location.ts';

const { events, causes, batches, keys, manifest: manifestMember } = EVIDENCE_MEMBERS;

/** `events.canonical`: each record is RFC 8785 JSON, so that its value has no other encoding. */
export function checkCanonical(tally: Tally): Check {
  return {
    event: ({ line, isUnread, faults }) => {
      if (!isUnread) tally.judge(faults.strict ?? faults.canonical, events, line);
    },
    cause: ({ line, faults }) => tally.judge(faults.strict ?? faults.canonical, causes, line),
  };
}

/** `events.schema`: each is a record of a known version. */
export function checkSchema(tally: Tally): Check {
  return {
    event: ({ line, isUnread, isTooLarge, faults }) => {
      if (isTooLarge) {
        tally.warn(
          'a record is too large to be shown: its place and its hash are',
          lineOf(events, line),
        );
      } else if (isUnread) {
        tally.warn('a record was kept that its receiver could not read', lineOf(events, line));
      } else tally.judge(faults.schema, events, line);
    },
    cause: ({ line, faults }) => tally.judge(faults.schema, causes, line),
  };
}

/** `tenant.binding`: everything belongs to the anchor's tenant. */
export function checkTenant(tally: Tally, evidence: Evidence): Check {
  let tenantId: string | undefined;
  const add = (actual: string, location: Parameters<typeof tally.fail>[1]) => {
    if (actual === tenantId) tally.ok();
    else tally.fail('it belongs to another tenant', location);
  };
  return {
    documents: () => {
      const { manifest, trust, keys: own, checkpoints } = evidence;
      tenantId = trust.anchor?.tenant_id ?? manifest.tenant_id;
      add(manifest.tenant_id, { member: manifestMember, path: 'tenant_id' });
      const origin = logOrigin(tenantId, manifest.log.epoch);
      if (manifest.log.origin === origin) tally.ok();
      else tally.fail('the log is of another tenant', { member: manifestMember, path: 'log' });
      for (const [size, { checkpoint }] of checkpoints) {
        const location = { member: `checkpoints/${size}.note` };
        if (checkpoint.origin.startsWith(`agent-governance/log/${tenantId}/`)) tally.ok();
        else tally.fail('the checkpoint is of another tenant', location);
      }
      for (const [i, { statement }] of own.writers.entries()) {
        add(statement.tenant_id, { member: keys, path: `writers/${i}` });
      }
      for (const [i, { statement }] of own.log_epochs.entries()) {
        add(statement.tenant_id, { member: keys, path: `log_epochs/${i}` });
      }
    },
    batch: ({ line, tenantId: actual }) => add(actual, lineOf(batches, line)),
    event: ({ line, place }) => {
      if (place) add(place.tenant_id, lineOf(events, line));
    },
    cause: ({ line, place }) => {
      if (place) add(place.tenant_id, lineOf(causes, line));
    },
  };
}

/** `time.order`: times within a stream do not run backwards. An adjusted clock is no forgery. */
export function checkTimeOrder(tally: Tally): Check {
  const last = new Map<string, string>();
  return {
    event: ({ line, place, isRepeated }) => {
      if (!place || isRepeated) return;
      const before = last.get(place.stream);
      if (before !== undefined && place.timestamp < before) {
        tally.warn('a record is older than the one before it', lineOf(events, line));
      } else tally.ok();
      last.set(place.stream, place.timestamp);
    },
  };
}
