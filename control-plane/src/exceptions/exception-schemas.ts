/** The wire shapes of exceptions; specification 1, sections 2 and 4. */
import {
  BLAST_RADIUS,
  ExceptionLifts,
  MAX_EXCEPTIONS,
} from '@governance/shared/channel/exceptions';
import { GivenId, Text, Timestamp } from '@governance/shared/text';
import { findScopeFault } from '@governance/shared/tokens/resource-scopes';
import { z } from 'zod';
import { listOf, pageQuery } from '../platform/http/schemas.ts';
import {
  DEFAULT_MAX_EXTENSIONS,
  ExceptionStatus,
  isJustification,
  MAX_DENY_HOURS,
  MAX_HOURS,
  MIN_JUSTIFICATION,
  type NewException,
  type StandingException,
  statusAt,
  targetOf,
} from './exception.ts';

export const ExceptionParams = z.object({ id: GivenId });

export const ExceptionQuery = z.object({
  status: ExceptionStatus.default('active'),
  agent_id: GivenId.optional(),
  // Without a limit, all that may be in force.
  ...pageQuery({ default: MAX_EXCEPTIONS, max: MAX_EXCEPTIONS }),
});

const Hours = z.int().min(1).max(MAX_HOURS);

const Justification = Text.max(2_000).refine(
  isJustification,
  `must say why, in at least ${MIN_JUSTIFICATION} characters`,
);

const ToolName = Text.min(1)
  .max(256)
  .refine((name) => !name.includes('*'), 'must be the name of one tool; leave it out for any tool');

// Only an approval names calls without a target, by an empty text. Here it would be an empty field of
// a form, and alone lift every escalation of such calls.
const Resource = Text.min(1, 'must name a target; leave it out for calls with any target, or none')
  .max(1_024)
  .superRefine((pattern, context) => {
    const fault = pattern === '' ? undefined : findScopeFault(`target:${pattern}`);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });

export const NewExceptionBody = z
  .strictObject({
    justification: Justification,
    expires_in_hours: Hours,
    lifts: ExceptionLifts.default('escalation'),
    agent_id: GivenId.optional(),
    mcp_server: Text.min(1).max(200).optional(),
    tool_name: ToolName.optional(),
    resource: Resource.optional().meta({
      description:
        'A glob, as in `target:` of a role’s resource_scopes: every target of the call has to match.',
    }),
    policy_id: z
      .union([GivenId, z.literal(BLAST_RADIUS)])
      .optional()
      .meta({ description: `A policy, or \`${BLAST_RADIUS}\`.` }),
    max_extensions: z.int().min(0).max(10).default(DEFAULT_MAX_EXTENSIONS),
  })
  .superRefine((body, context) => {
    const refuse = (path: string[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    const { agent_id, mcp_server, tool_name, resource, policy_id } = body;
    if ([agent_id, mcp_server, tool_name, resource, policy_id].every((one) => one === undefined)) {
      refuse([], 'must name an agent, a server, a tool, a resource or a policy');
    }
    if (body.lifts !== 'deny') return;
    if (agent_id === undefined) refuse(['agent_id'], 'must be named to lift a denial');
    if (policy_id === undefined) refuse(['policy_id'], 'must be named to lift a denial');
    if (policy_id === BLAST_RADIUS) refuse(['policy_id'], 'what it denies is never lifted');
    if (body.expires_in_hours > MAX_DENY_HOURS) {
      refuse(['expires_in_hours'], `must be at most ${MAX_DENY_HOURS} to lift a denial`);
    }
  });
export type NewExceptionBody = z.infer<typeof NewExceptionBody>;

export const ExtensionBody = z.strictObject({ hours: Hours });

export const ReviewBody = z.strictObject({ notes: Text.max(2_000).optional() }).nullish();

export const ExceptionView = z
  .object({
    id: z.string(),
    status: ExceptionStatus,
    lifts: ExceptionLifts,
    agent_id: z.string().nullable(),
    mcp_server: z.string().nullable(),
    tool_name: z.string().nullable(),
    resource: z.string().nullable(),
    policy_id: z.string().nullable(),
    justification: z.string(),
    /** The escalation that it was made with. */
    escalation_id: z.string().nullable(),
    extension_count: z.int(),
    max_extensions: z.int(),
    created_by: z.string(),
    reviewed_by: z.string().nullable(),
    reviewed_at: Timestamp.nullable(),
    notes: z.string().nullable(),
    revoked_by: z.string().nullable(),
    revoked_at: Timestamp.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'Exception' });

export const ExceptionList = listOf('exceptions', ExceptionView);

export function toNewException(body: NewExceptionBody): NewException {
  return {
    lifts: body.lifts,
    agentId: body.agent_id ?? null,
    mcpServer: body.mcp_server ?? null,
    toolName: body.tool_name ?? null,
    resource: body.resource ?? null,
    policyId: body.policy_id ?? null,
    justification: body.justification,
    hours: body.expires_in_hours,
    maxExtensions: body.max_extensions,
    escalationId: null,
  };
}

/** @param at the time for which its status is computed */
export function toExceptionView(
  exception: StandingException,
  at: Date,
): z.infer<typeof ExceptionView> {
  const { id, justification, notes } = exception;
  return {
    ...{ id, status: statusAt(exception, at), ...targetOf(exception), justification },
    escalation_id: exception.escalationId,
    extension_count: exception.extensionCount,
    max_extensions: exception.maxExtensions,
    created_by: exception.createdBy,
    reviewed_by: exception.reviewedBy,
    reviewed_at: exception.reviewedAt?.toISOString() ?? null,
    notes,
    revoked_by: exception.revokedBy,
    revoked_at: exception.revokedAt?.toISOString() ?? null,
    created_at: exception.createdAt.toISOString(),
    updated_at: exception.updatedAt.toISOString(),
    expires_at: exception.expiresAt.toISOString(),
  };
}
