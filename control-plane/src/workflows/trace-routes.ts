import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { TraceService } from './trace-service.ts';
import { SessionParams } from './workflow-schemas.ts';

const tags = ['workflows'];
const PATH = '/api/v1/workflows/:id/sessions/:sid/trace';
const config = { guard: 'admin', use: 'read' } as const;

const TraceNode = z
  .object({
    event_id: z.string(),
    timestamp: z.string(),
    agent_id: z.string(),
    action: z.string(),
    tool_name: z.string(),
    mcp_server: z.string(),
    policy_result: z.string(),
    /** 0 for a root of the trace. */
    causal_depth: z.int(),
    parent_event_id: z.string().nullable(),
    /** The event named an impossible parent, such as one outside this session, so it is a root. */
    parent_ignored: z.boolean(),
    children: z.array(z.unknown()),
  })
  .meta({ id: 'TraceNode' });

const Trace = z
  .object({
    session_id: z.string(),
    workflow_id: z.string(),
    nodes: z.array(TraceNode),
    /** By the agent's id. */
    agent_summaries: z.record(
      z.string(),
      z.object({
        event_count: z.int(),
        results: z.record(z.string(), z.int()),
        tools: z.record(z.string(), z.int()),
        max_causal_depth: z.int(),
        first_event_at: z.string(),
        last_event_at: z.string(),
      }),
    ),
    /** Whether the trace is truncated to the first 10,000 events. */
    truncated: z.boolean(),
  })
  .meta({ id: 'Trace' });

export const traceRoutes =
  (traces: TraceService): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      PATH,
      {
        config,
        schema: {
          summary: 'The events of a workflow session, each under its cause',
          tags,
          params: SessionParams,
          response: { 200: Trace },
        },
      },
      async (request) => {
        const { id, sid } = request.params;
        return traces.read(request.scope, id, sid);
      },
    );

    app.get(
      `${PATH}/export`,
      {
        config,
        schema: {
          summary: 'The same as a file',
          tags,
          params: SessionParams,
          response: { 200: Trace },
        },
      },
      async (request, reply) => {
        const { id, sid } = request.params;
        const trace = await traces.read(request.scope, id, sid);
        reply.header('content-disposition', `attachment; filename="trace-${sid}.json"`);
        return trace;
      },
    );
  };
