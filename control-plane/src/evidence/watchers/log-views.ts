/** A data plane's view of its tenant's log, to compare with what it saw before. */
import {
  type LogView,
  listStandingRestores,
  MAX_SHOWN_RESTORES,
} from '@governance/shared/evidence/log-watch';
import { systemScope, type TenantDatabase } from '../../platform/database/tenant-scope.ts';
import { readKeyHistory } from '../../platform/keys/key-history.ts';
import type { ServiceKeys } from '../../platform/keys/keys.ts';
import { ensureCheckpoint } from '../log-growth.ts';
import { logStore } from '../log-store.ts';
import { whereWhole } from '../log-tree-store.ts';

export interface LogViewsDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  serviceKeys: Pick<ServiceKeys, 'evidenceKey' | 'listKeys' | 'listRotations'>;
  now: () => Date;
}

export type LogViews = ReturnType<typeof createLogViews>;

export function createLogViews({ db, serviceKeys, now }: LogViewsDeps) {
  return {
    /**
     * The newest checkpoint, and the proof that it continues the remembered position.
     *
     * @param held caller-controlled; size 0 holds none
     */
    read: async (tenantId: string, held: { epoch: number; size: number }): Promise<LogView> => {
      const { key } = await serviceKeys.evidenceKey('checkpoint');
      const history = await readKeyHistory(serviceKeys, ['checkpoint-signing']);
      const shown = await db.inTenant(systemScope(tenantId), async (tx) => {
        const store = logStore(tx);
        const { epoch } = await store.findHead();
        const newest =
          (await store.findCheckpoint({ epoch })) ?? (await ensureCheckpoint(tx, key, now()));
        const isAbove = newest !== undefined && held.size > 0 && held.size <= newest.size;
        const log_epochs = await store.listEpochs(held.epoch);
        const restored: LogView['restored'] = [];
        if (isAbove && epoch > held.epoch) {
          const standing = listStandingRestores(log_epochs, { from: held.epoch, to: epoch });
          for (const { epoch: begun, restored: place } of standing.slice(0, MAX_SHOWN_RESTORES)) {
            const path = await whereWhole(store.proveConsistency(place.size, newest.size));
            if (path) restored.push({ epoch: begun, path });
          }
        }
        return {
          note: newest?.note ?? null,
          log_epochs,
          restored,
          // A log that lacks nodes has no proof, which every data plane that remembers a position
          // notices.
          consistency: isAbove
            ? ((await whereWhole(store.proveConsistency(held.size, newest.size))) ?? null)
            : null,
        };
      });
      return { ...shown, ...history };
    },
  };
}
