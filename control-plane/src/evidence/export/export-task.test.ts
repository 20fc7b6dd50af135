import { expect, it } from 'vitest';
import type { TenantScope } from '../../platform/database/tenant-scope.ts';
import { createExportTask, type ExportTaskDeps } from './export-task.ts';

it('a tenant whose package cannot be read keeps no other tenant waiting', async () => {
  const asked: string[] = [];
  const db = {
    inPlatform: async () => [
      { id: 'broken', is_expiry: false },
      { id: 'another', is_expiry: false },
    ],
    inTenant: async ({ tenantId }: TenantScope) => {
      asked.push(tenantId);
      if (tenantId === 'broken') throw new Error('cannot be read');
    },
  };
  const task = createExportTask({ db, now: () => new Date() } as unknown as ExportTaskDeps);
  await expect(task.run(new AbortController().signal)).rejects.toThrow('cannot be read');
  expect(asked).toEqual(['broken', 'another']);
});
