/** The wire shapes of replays. */
import { GivenId, Id, Sha256Hex, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { listOf, pageQuery, QueryTime } from '../platform/http/schemas.ts';
import { RegoContent } from '../policies/policy-schemas.ts';
import { type Replay, ReplayStatus } from './replay.ts';
import { ReplayResult } from './replay-result.ts';

export const ReplayParams = z.object({ id: GivenId, replay_id: GivenId });

export const ReplayListQuery = z.object(pageQuery({ default: 20, max: 100 }));

export const NewReplayBody = z
  .strictObject({
    from: QueryTime,
    to: QueryTime,
    rego: RegoContent.optional().meta({
      description: 'Replaces the stored source; the policy itself is not changed.',
    }),
    change_request_id: GivenId.optional().meta({
      description: 'Tries this change request’s proposal.',
    }),
  })
  .refine(({ from, to }) => from < to, { message: 'must be after from', path: ['to'] })
  .refine(({ rego, change_request_id }) => !rego || !change_request_id, {
    message: 'must not be given together with rego',
    path: ['change_request_id'],
  });
export type NewReplayBody = z.infer<typeof NewReplayBody>;

const ReplayFields = z.object({
  id: Id,
  policy_id: Id,
  change_request_id: Id.nullable(),
  status: ReplayStatus,
  from: Timestamp,
  to: Timestamp,
  rego_sha256: Sha256Hex.meta({ description: 'Of the text that is tried.' }),
  is_left_out: z.boolean().meta({
    description: 'The policy would no longer decide: it is tried by leaving it out.',
  }),
  requested_by: z.string(),
  decisions_total: z.int().meta({ description: 'Recorded decisions in the time.' }),
  decisions_done: z.int(),
  judged: z.int(),
  changed: z.int().meta({ description: 'Of those that were judged.' }),
  reason: z.string().nullable().meta({ description: 'Why it failed.' }),
  created_at: Timestamp,
  finished_at: Timestamp.nullable(),
});

/** A replay as it is listed. */
const ReplaySummary = ReplayFields.meta({ id: 'ReplaySummary' });
export const ReplayList = listOf('replays', ReplaySummary);

export const ReplayView = ReplayFields.extend({
  result: ReplayResult.omit({ decisions: true, judged: true, changed: true }).meta({
    description: 'So far; `reason_after` of an example is shown to the role admin alone.',
  }),
}).meta({ id: 'Replay' });

export function toReplaySummary(replay: Replay): z.infer<typeof ReplaySummary> {
  const { id, status, reason, result } = replay;
  return {
    ...{ id, policy_id: replay.policyId, change_request_id: replay.changeRequestId, status },
    ...{ from: replay.fromTime.toISOString(), to: replay.toTime.toISOString() },
    ...{ rego_sha256: replay.regoSha256, is_left_out: replay.isLeftOut },
    requested_by: replay.requestedBy,
    ...{ decisions_total: replay.decisionsTotal, decisions_done: result.decisions },
    ...{ judged: result.judged, changed: result.changed, reason },
    created_at: replay.createdAt.toISOString(),
    finished_at: replay.finishedAt?.toISOString() ?? null,
  };
}

/** @param seesPayloads whether policy reasons are shown, which may quote payloads */
export function toReplayView(replay: Replay, seesPayloads: boolean): z.infer<typeof ReplayView> {
  const { decisions: _d, judged: _j, changed: _c, examples, ...counts } = replay.result;
  const shown = examples.map((example) => ({
    ...example,
    reason_after: seesPayloads ? example.reason_after : null,
  }));
  return { ...toReplaySummary(replay), result: { ...counts, examples: shown } };
}
