import { GivenId, isSeen, Text } from '@governance/shared/text';
import { findScopeFault } from '@governance/shared/tokens/resource-scopes';
import { z } from 'zod';
import { listOf, pageQuery } from '../platform/http/schemas.ts';
import type { Delegation } from '../workflows/delegation-store.ts';

export const DelegationParams = z.object({ id: GivenId });
/** A session may have more: then `total` says how many. */
export const DelegationQuery = z.object(pageQuery({ default: 1_000, max: 1_000 }));

const MAX_ENTRIES = 100;

const Tool = Text.min(1)
  .max(256)
  .refine((text) => !/[\s\p{Cc}]/u.test(text), 'must not contain white space');
const Resource = Text.min(1)
  .max(1_024)
  .superRefine((text, context) => {
    const fault = findScopeFault(`target:${text}`);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });

export const NewDelegationBody = z.strictObject({
  workflow_session_id: GivenId,
  delegator_agent_id: GivenId,
  delegatee_agent_id: GivenId,
  /** A list that is omitted or empty covers everything of its kind that the delegator may do. */
  scope: z
    .strictObject({
      /** Servers, `server/tool` or tools; `*` matches any characters. */
      tools: z.array(Tool).max(MAX_ENTRIES).default([]),
      /** As in `target:` of a role's scopes. */
      resources: z.array(Resource).max(MAX_ENTRIES).default([]),
    })
    .refine(
      ({ tools, resources }) => tools.length + resources.length > 0,
      'must name tools or resources',
    ),
  reason: Text.max(2_000).default(''),
  /** The requester for whom the delegatee acts, as `X-Requester-Id`; the delegator unless given. */
  requester: Text.min(1)
    .max(256)
    .refine(isSeen, 'must have no characters, nor blanks at its ends, that nobody sees')
    .optional(),
  /**
   * The delegation under which the delegator acts. Omitted: the last one that it received in this
   * session, if any. Null: none, the delegator acts by its own roles.
   */
  parent_delegation_id: GivenId.nullable().optional(),
});
export type NewDelegationBody = z.infer<typeof NewDelegationBody>;

const fields = {
  id: z.string(),
  workflow_session_id: z.string(),
  delegator_agent_id: z.string(),
  delegatee_agent_id: z.string(),
  delegation_depth: z.int(),
  parent_delegation_id: z.string().nullable(),
  effective_permissions: z.object({ tools: z.array(z.string()), resources: z.array(z.string()) }),
  requester: z.string(),
  reason: z.string(),
  status: z.enum(['active', 'revoked']),
  created_at: z.string(),
  expires_at: z.string(),
  revoked_at: z.string().nullable(),
};

export const DelegationView = z.object(fields).meta({ id: 'Delegation' });

export const CreatedDelegation = z.object({
  ...fields,
  /** For the header X-Delegation-Token; shown only in this answer. */
  d_token: z.string(),
});

export const DelegationList = listOf('delegations', DelegationView);

export function toDelegationView(delegation: Delegation): z.input<typeof DelegationView> {
  const { tools, resources } = delegation;
  return {
    id: delegation.id,
    workflow_session_id: delegation.workflowSessionId,
    delegator_agent_id: delegation.delegatorAgentId,
    delegatee_agent_id: delegation.delegateeAgentId,
    delegation_depth: delegation.delegationDepth,
    parent_delegation_id: delegation.parentDelegationId,
    effective_permissions: { tools, resources },
    requester: delegation.requester,
    reason: delegation.reason,
    status: delegation.status,
    created_at: delegation.createdAt.toISOString(),
    expires_at: delegation.expiresAt.toISOString(),
    revoked_at: delegation.revokedAt?.toISOString() ?? null,
  };
}
