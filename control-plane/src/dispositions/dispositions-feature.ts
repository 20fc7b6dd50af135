import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { Feature } from '../platform/feature.ts';
import { createDispositionFlush } from './disposition-flush.ts';

export interface DispositionsCore {
  config: { dispositionFlushSeconds: number };
  db: TenantDatabase;
  now: () => Date;
  tokenNow: () => Date;
  settledNow: () => Date;
}

/** Dispositions of actions by session, and the detectors of reversals and repetition. */
export const dispositionsFeature = (core: DispositionsCore): Feature => ({
  tasks: [
    createDispositionFlush({ ...core, everyMs: core.config.dispositionFlushSeconds * 1_000 }),
  ],
});
