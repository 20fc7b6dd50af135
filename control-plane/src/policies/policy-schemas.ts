/** The wire shapes of policies; specification 1, sections 2 and 4. */
import type { PolicyFault } from '@governance/policies/contract';
import { GivenId, Id, Text, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { Description, listOf, Name } from '../platform/http/schemas.ts';
import { findPolicyWarnings, MAX_SOURCE_BYTES, type Policy, PolicyStatus } from './policy.ts';

export const RegoContent = Text.min(1)
  .max(MAX_SOURCE_BYTES)
  .refine(
    (text) => Buffer.byteLength(text) <= MAX_SOURCE_BYTES,
    `must not be larger than ${MAX_SOURCE_BYTES / 1024} KiB`,
  );

export const PolicyParams = z.object({ id: GivenId });

export const PolicyListQuery = z.object({ status: PolicyStatus.optional() });

export const NewPolicyBody = z.strictObject({
  name: Name,
  description: Description.default(''),
  rego_content: RegoContent,
  status: PolicyStatus.default('draft'),
});
export type NewPolicyBody = z.infer<typeof NewPolicyBody>;

export const PolicyPatchBody = z.strictObject({
  name: Name.optional(),
  description: Description.optional(),
  rego_content: RegoContent.optional(),
  status: PolicyStatus.optional(),
});
export type PolicyPatchBody = z.infer<typeof PolicyPatchBody>;

const PolicyView = z.object({
  id: Id,
  name: z.string(),
  description: z.string(),
  rego_content: z.string(),
  status: PolicyStatus,
  /** `baseline`: came with the tenant; `custom`: written by a user. */
  origin: z.enum(['baseline', 'custom']),
  created_at: Timestamp,
  updated_at: Timestamp,
});
type PolicyView = z.infer<typeof PolicyView>;

/** One policy, and not a row of the list: its whole source is looked through. */
export const OnePolicyView = PolicyView.extend({ warnings: z.array(z.string()) });
export type OnePolicyView = z.infer<typeof OnePolicyView>;

export const PolicyListView = listOf('policies', PolicyView);

export function toPolicyView(policy: Policy): PolicyView {
  return {
    id: policy.id,
    name: policy.name,
    description: policy.description,
    rego_content: policy.regoContent,
    status: policy.status,
    origin: policy.origin,
    created_at: policy.createdAt.toISOString(),
    updated_at: policy.updatedAt.toISOString(),
  };
}

export function toOnePolicyView(policy: Policy): OnePolicyView {
  return { ...toPolicyView(policy), warnings: findPolicyWarnings(policy.regoContent) };
}

const Words = z.array(Text.max(500)).max(1_000);

/** A workflow or a delegation: any JSON, whose size and nesting the body parser bounds. */
const Anything = z.record(z.string(), z.unknown()).nullable().default(null);

/** The findings that the scan of the call would have. */
const EvaluatedDlp = z
  .strictObject({
    /** The least number that the other fields need, unless given. */
    findings_count: z.int().min(0).max(1_000_000).optional(),
    max_severity: z.enum(['low', 'medium', 'high', 'critical']).nullable().default(null),
    patterns: Words.default([]),
  })
  .transform(({ findings_count, max_severity, patterns }, ctx) => {
    const least = Math.max(patterns.length, max_severity === null ? 0 : 1);
    const count = findings_count ?? least;
    if (count < least) {
      const message = 'must not be below the patterns and the severity that were found';
      ctx.addIssue({ code: 'custom', path: ['findings_count'], message });
    }
    return { findings_count: count, max_severity, patterns };
  });

const EvaluatedContext = z.strictObject({
  /** Now unless given. */
  time: Timestamp.optional(),
  data_plane: Text.max(500).default(''),
  region: Text.max(500).nullable().default(null),
  model: Text.max(500).nullable().default(null),
  agent_role: Text.max(500).nullable().default(null),
});

/**
 * The specification's fields, plus the rest of the policy input as options, so that every rule can
 * be tried.
 */
export const EvaluateBody = z.strictObject({
  agent: z.strictObject({
    id: Text.max(500),
    name: Text.max(500).default(''),
    agent_type: Text.max(500).default(''),
    owner: Text.max(500).default(''),
    roles: Words.default([]),
    permissions: Words.default([]),
    risk_tier: z.enum(['low', 'medium', 'high', 'critical']).default('low'),
    risk_score: z.number().min(0).max(100).default(0),
  }),
  request: z.strictObject({
    tool_name: Text.min(1).max(500),
    action: Text.min(1).max(200).default('execute').meta({
      description:
        'Data planes give `read`, `write`, `delete` or `execute`; any other is tried too.',
    }),
    /** The tool's name unless given. */
    resource: Text.max(4_000).optional(),
    /** The body parser bounds its nesting. */
    parameters: z.record(z.string(), z.unknown()).default({}),
    /** For a call that is repeated with the input that its server requested. */
    input_responses: z.record(z.string(), z.unknown()).optional(),
    request_state: Text.max(100_000).optional(),
    mcp_server: Text.max(500).default(''),
    method: Text.max(200).default('tools/call'),
  }),
  requester: z
    .strictObject({
      id: Text.max(500).nullable().default(null),
      verified: z.boolean().default(false),
    })
    .default({ id: null, verified: false }),
  workflow: Anything,
  delegation: Anything,
  dlp: EvaluatedDlp.prefault({}),
  context: EvaluatedContext.prefault({}),
  trace: z
    .boolean()
    .default(false)
    .meta({ description: 'Adds OPA’s own trace, a line an event, bounded.' }),
});
export type EvaluateBody = z.infer<typeof EvaluateBody>;

const FAULTS = [
  'undefined',
  'malformed_verdict',
  'out_of_fuel',
  'out_of_memory',
  'trap',
  'builtin_error',
  'not_loaded',
] as const satisfies PolicyFault[];

const JudgedView = z.object({
  decision: z.enum(['allow', 'deny', 'escalate']).meta({
    description: 'As a data plane decides, by its engine and within its bounds.',
  }),
  reasons: z.array(
    z.object({
      policy_id: z.string(),
      policy: z.string(),
      rule: z.enum(['deny', 'escalate', 'allow']),
      message: z.string(),
    }),
  ),
  fault: z.enum(FAULTS).optional().meta({
    description: 'Where policies do not come to a decision: data planes then deny.',
  }),
  explanation: z.array(z.string()).meta({
    description:
      'By OPA’s interpreter, in plain words: the decision, the rules that made it, and the failed condition of every rule that does not hold.',
  }),
  trace: z.array(z.string()).optional().meta({ description: 'Where it was asked for.' }),
});

export const EvaluationView = JudgedView.extend({
  policy_id: Id,
  active_set: JudgedView.meta({
    description: 'What the active policies and this one would decide together.',
  }),
});
export type EvaluationView = z.infer<typeof EvaluationView>;
