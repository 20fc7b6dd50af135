/**
 * The smallest feature that has every part: it counts the calls of each tool. It is listed only in
 * trial-feature.pg.test.ts; nothing else knows it.
 */
import type { NewFact } from '@governance/shared/channel/facts';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { forEachTenant } from '../../platform/database/each-tenant.ts';
import { systemScope, type TenantDatabase } from '../../platform/database/tenant-scope.ts';
import type { Feature, Projection } from '../../platform/feature.ts';
import { listOf } from '../../platform/http/schemas.ts';
import type { LeaderTask } from '../../platform/replicas/leader.ts';

/** What a migration would create. */
export const TRIAL_TABLE = `
  CREATE TABLE tool_counts (
    tenant_id uuid NOT NULL,
    tool_name text NOT NULL CHECK (tool_name <> 'refused by the table'),
    calls bigint NOT NULL,
    reviewed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, tool_name)
  );
  ALTER TABLE tool_counts ENABLE ROW LEVEL SECURITY;
  ALTER TABLE tool_counts FORCE ROW LEVEL SECURITY;
  CREATE POLICY tenant_isolation ON tool_counts USING (tenant_id = app_current_tenant())
    WITH CHECK (tenant_id = app_current_tenant());
  GRANT SELECT, UPDATE ON tool_counts TO governance_app;
  GRANT SELECT, INSERT, UPDATE ON tool_counts TO governance_ingest;`;

export const TRIAL_FACT = {
  kind: 'role',
  key: '0190bbbb-0000-7000-8000-000000000001',
  value: {
    id: '0190bbbb-0000-7000-8000-000000000001',
    name: 'tool counter',
    permissions: [],
    resource_scopes: [],
  },
} as const satisfies NewFact;

const ToolCounts = listOf(
  'tools',
  z.object({ tool_name: z.string(), calls: z.int(), reviewed: z.boolean() }),
);

export interface TrialCore {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
}

export const trialFeature = ({ db }: TrialCore): Feature => ({
  routes: [trialRoutes(db)],
  tasks: [reviewTask(db)],
  settings: {
    counted_tools: async (tx) => {
      const rows = await tx.db.$queryRaw<{ tool_name: string }[]>`
        SELECT tool_name FROM tool_counts WHERE tenant_id = ${tx.scope.tenantId}::uuid
        ORDER BY tool_name`;
      return rows.map((row) => row.tool_name);
    },
  },
  projections: [toolCounts],
  facts: { begin: (tx) => tx.feed.append(TRIAL_FACT) },
});

const toolCounts: Projection = {
  types: ['decision'],
  store: async (client, tenantId, records) => {
    const names = records.flatMap(({ record }) =>
      record.type === 'decision' && record.tool_name !== null ? [record.tool_name] : [],
    );
    await client.query(
      `INSERT INTO tool_counts (tenant_id, tool_name, calls)
       SELECT $1, name, count(*) FROM unnest($2::text[]) AS name GROUP BY name ORDER BY name
       ON CONFLICT (tenant_id, tool_name) DO UPDATE SET calls = tool_counts.calls + EXCLUDED.calls`,
      [tenantId, names],
    );
    return [];
  },
};

const trialRoutes =
  (db: TrialCore['db']): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/trial/tools',
      {
        config: { guard: 'admin' },
        schema: { summary: 'Calls of each tool', response: { 200: ToolCounts } },
      },
      ({ scope }) =>
        db.inTenant(scope, async (tx) => {
          const rows = await tx.db.$queryRaw<
            { tool_name: string; calls: bigint; reviewed: boolean }[]
          >`SELECT tool_name, calls, reviewed FROM tool_counts
            WHERE tenant_id = ${scope.tenantId}::uuid ORDER BY tool_name`;
          const tools = rows.map((row) => ({ ...row, calls: Number(row.calls) }));
          return { tools, total: tools.length };
        }),
    );
  };

const reviewTask = (db: TrialCore['db']): LeaderTask => ({
  name: 'trial_review',
  everyMs: 50,
  run: (signal) =>
    forEachTenant(db, signal, async (tenantId) => {
      await db.inTenant(
        systemScope(tenantId),
        (tx) =>
          tx.db
            .$executeRaw`UPDATE tool_counts SET reviewed = true WHERE tenant_id = ${tenantId}::uuid`,
      );
    }),
});
