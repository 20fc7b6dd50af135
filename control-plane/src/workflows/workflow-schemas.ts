import {
  MAX_ALLOWED_ACTIONS,
  MAX_PARTICIPANTS,
  MAX_WORKFLOW_DEPTH,
} from '@governance/shared/channel/facts';
import { GivenId, Text } from '@governance/shared/text';
import { z } from 'zod';
import { listOf, Name, pageQuery } from '../platform/http/schemas.ts';
import type { WorkflowSession } from './session-store.ts';
import type { Workflow } from './workflow-store.ts';

export const WorkflowParams = z.object({ id: GivenId });
export const SessionParams = z.object({ id: GivenId, sid: GivenId });

const WorkflowStatus = z.enum(['active', 'suspended']);

export const WorkflowQuery = z.object({
  status_filter: WorkflowStatus.optional(),
  ...pageQuery({ default: 50, max: 200 }),
});
export const SessionQuery = z.object(pageQuery({ default: 50, max: 200 }));

const EVERY_ACTION = ['*'];

const Participant = z.strictObject({
  agent_id: GivenId,
  role: Text.max(200).default('participant'),
  /** Actions, tools, or permissions like `files:read`; an empty list allows nothing. */
  allowed_actions: z.array(Text.min(1).max(200)).max(MAX_ALLOWED_ACTIONS).default(EVERY_ACTION),
});

const fields = {
  name: Name,
  owner_agent_id: GivenId,
  /**
   * The greatest depth of event chains, which count from 0, and of delegations, which count from 1.
   */
  max_depth: z.int().min(0).max(MAX_WORKFLOW_DEPTH),
  max_participants: z.int().min(1).max(MAX_PARTICIPANTS),
  participants: z.array(Participant).max(MAX_PARTICIPANTS),
};

export const NewWorkflowBody = z.strictObject({
  ...fields,
  max_depth: fields.max_depth.default(5),
  max_participants: fields.max_participants.default(10),
  participants: fields.participants.default([]),
});
export type NewWorkflowBody = z.infer<typeof NewWorkflowBody>;

export const WorkflowChangeBody = z
  .strictObject({
    ...fields,
    /** `active` resumes a suspended workflow. */
    status: WorkflowStatus,
  })
  .partial();
export type WorkflowChangeBody = z.infer<typeof WorkflowChangeBody>;

const DAY_SECONDS = 86_400;
const MAX_METADATA_BYTES = 16 * 1024;

/** The specification's request has no body: without one, the session lasts a day. */
export const NewSessionBody = z
  .strictObject({
    /** The user or trigger that started it; the administrator unless given. */
    initiated_by: Text.min(1).max(256).optional(),
    metadata: z
      .record(Text, z.unknown())
      .refine((value) => JSON.stringify(value).length <= MAX_METADATA_BYTES, 'is too large')
      // PostgreSQL's JSON type does not allow NUL.
      .refine((value) => !JSON.stringify(value).includes('\\u0000'), 'must not contain a NUL')
      .default({}),
    expires_in_seconds: z
      .int()
      .min(60)
      .max(30 * DAY_SECONDS)
      .default(DAY_SECONDS),
  })
  .nullish()
  .transform((body) => body ?? { metadata: {}, expires_in_seconds: DAY_SECONDS });
export type NewSessionBody = z.infer<typeof NewSessionBody>;

export const WorkflowView = z
  .object({
    id: z.string(),
    name: z.string(),
    owner_agent_id: z.string(),
    max_depth: z.int(),
    max_participants: z.int(),
    participants: z.array(
      z.object({ agent_id: z.string(), role: z.string(), allowed_actions: z.array(z.string()) }),
    ),
    status: WorkflowStatus,
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Workflow' });

export const WorkflowList = listOf('workflows', WorkflowView);

const sessionFields = {
  id: z.string(),
  workflow_id: z.string(),
  initiated_by: z.string(),
  /** A session whose time is over is aborted by the service. */
  status: z.enum(['active', 'completed', 'aborted']),
  started_at: z.string(),
  completed_at: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  expires_at: z.string(),
};

export const WorkflowSessionView = z.object(sessionFields).meta({ id: 'WorkflowSession' });

export const CreatedSession = z.object({
  ...sessionFields,
  /** For the header X-Workflow-Session; shown only in this answer. */
  wf_token: z.string(),
});

export const SessionList = listOf('sessions', WorkflowSessionView);

export function toWorkflowView(workflow: Workflow): z.input<typeof WorkflowView> {
  return {
    id: workflow.id,
    name: workflow.name,
    owner_agent_id: workflow.ownerAgentId,
    max_depth: workflow.maxDepth,
    max_participants: workflow.maxParticipants,
    participants: workflow.participants,
    status: workflow.status,
    created_at: workflow.createdAt.toISOString(),
    updated_at: workflow.updatedAt.toISOString(),
  };
}

export function toSessionView(session: WorkflowSession): z.input<typeof WorkflowSessionView> {
  return {
    id: session.id,
    workflow_id: session.workflowId,
    initiated_by: session.initiatedBy,
    status: session.status,
    started_at: session.startedAt.toISOString(),
    completed_at: session.completedAt?.toISOString() ?? null,
    metadata: session.metadata,
    expires_at: session.expiresAt.toISOString(),
  };
}
