/** The wire shapes of change requests; specification 1, sections 2 and 4. */
import { GivenId, Id, Sha256Hex, Text, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { Description, listOf, Name, pageQuery } from '../../platform/http/schemas.ts';
import { PolicyStatus } from '../policy.ts';
import { RegoContent } from '../policy-schemas.ts';
import {
  type ChangeRequest,
  ChangeRequestStatus,
  type LookedAt,
  MAX_OF_POLICY,
  type ReplayOfProposal,
} from './change-request.ts';

export const ChangeRequestParams = z.object({ id: GivenId, req_id: GivenId });

export const ChangeRequestQuery = z.object({
  req_status: ChangeRequestStatus.optional(),
  ...pageQuery({ default: MAX_OF_POLICY, max: MAX_OF_POLICY }),
});

/** Omitted fields stay unchanged. */
export const NewChangeRequestBody = z.strictObject({
  proposed_rego_content: RegoContent.optional(),
  proposed_name: Name.optional(),
  proposed_description: Description.optional(),
  proposed_status: PolicyStatus.optional(),
  summary: Text.max(2_000).default(''),
});
export type NewChangeRequestBody = z.infer<typeof NewChangeRequestBody>;

const Decision = z.strictObject({
  notes: Text.max(2_000).default(''),
  /** The digest of the reviewed request: any other is refused. */
  digest: Sha256Hex.optional(),
});

/** The specification's `notes`; an empty body has none. */
export const DecisionBody = Decision.nullish().transform(
  (body): z.infer<typeof Decision> => body ?? { notes: '' },
);
export type DecisionBody = z.infer<typeof Decision>;

const ChangeRequestFields = z.object({
  id: Id,
  policy_id: Id,
  status: ChangeRequestStatus,
  summary: z.string(),
  proposed_name: z.string(),
  proposed_description: z.string(),
  proposed_rego_content: z.string(),
  proposed_status: PolicyStatus,
  author: z.string(),
  reviewer: z.string().nullable(),
  notes: z.string().nullable(),
  digest: Sha256Hex.meta({
    description: 'Over the policy’s id, its reviewed state and the proposed state.',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
  reviewed_at: Timestamp.nullable(),
});

export const ChangeRequestView = ChangeRequestFields.meta({ id: 'ChangeRequest' });

const ReplayOfProposalView = z
  .object({
    id: Id,
    status: z.string(),
    from: Timestamp,
    to: Timestamp,
    judged: z.int(),
    changed: z.int(),
    transitions: z.array(z.object({ before: z.string(), after: z.string(), count: z.int() })),
  })
  .nullable()
  .meta({ description: 'The newest replay that was made for it, or of the text it proposes.' });

export const ChangeRequestList = listOf(
  'change_requests',
  ChangeRequestFields.extend({ replay: ReplayOfProposalView }),
);

const DifferenceView = z.object({
  field: z.enum(['name', 'description', 'status', 'rego_content']),
  before: z.string(),
  after: z.string(),
  line: z
    .int()
    .optional()
    .meta({ description: 'Of rego_content: where the lines that differ begin, from 1.' }),
});

export const LookedAtView = ChangeRequestFields.extend({
  changes: z
    .array(DifferenceView)
    .meta({ description: 'The proposed state, compared with the present one.' }),
  changed_since: z
    .array(DifferenceView)
    .nullable()
    .meta({ description: 'What the policy has become since; null once it was decided.' }),
  applies: z.boolean().meta({ description: 'Whether it can be approved as it is.' }),
  replay: ReplayOfProposalView,
});

export const PendingView = z.object({
  total: z.int(),
  change_requests: z.array(
    z.object({
      id: Id,
      policy_id: Id,
      proposed_name: z.string(),
      summary: z.string(),
      author: z.string(),
      created_at: Timestamp,
    }),
  ),
});

export function toChangeRequestView(request: ChangeRequest): z.infer<typeof ChangeRequestView> {
  const { id, policyId, status, summary, proposed, author, reviewer, notes, digest } = request;
  return {
    ...{ id, policy_id: policyId, status, summary },
    proposed_name: proposed.name,
    proposed_description: proposed.description,
    proposed_rego_content: proposed.regoContent,
    proposed_status: proposed.status,
    ...{ author, reviewer, notes, digest },
    created_at: request.createdAt.toISOString(),
    updated_at: request.updatedAt.toISOString(),
    reviewed_at: request.reviewedAt?.toISOString() ?? null,
  };
}

export function toListedView(listed: { request: ChangeRequest; replay: ReplayOfProposal | null }) {
  return { ...toChangeRequestView(listed.request), replay: toReplayOfProposal(listed.replay) };
}

function toReplayOfProposal(replay: ReplayOfProposal | null) {
  if (!replay) return null;
  const { fromTime, toTime, ...counted } = replay;
  return { ...counted, from: fromTime.toISOString(), to: toTime.toISOString() };
}

export function toLookedAtView(looked: LookedAt): z.infer<typeof LookedAtView> {
  const { request, changes, changedSince, replay } = looked;
  return {
    ...toChangeRequestView(request),
    changes,
    changed_since: changedSince,
    applies: changedSince !== null && changedSince.length === 0,
    replay: toReplayOfProposal(replay),
  };
}
