/**
 * Compares the log with the checkpoints that data planes keep. The database's owner can truncate or
 * rewrite the log and everything stored beside it, but not the signed checkpoints on other
 * machines. Only the service's own signature counts, so a hostile data plane cannot claim anything
 * that this service did not sign. Proven by log-watch.pg.test.ts.
 */
import type { LogWatchReport } from '@governance/shared/channel/channels';
import { parseCheckpoint, readLogOrigin } from '@governance/shared/evidence/checkpoint';
import type { KeyEntry } from '@governance/shared/evidence/evidence-keys';
import {
  checkpointKeys,
  findSignatureFault,
  isSelfContradicting,
  type SeenCheckpoint,
} from '@governance/shared/evidence/log-watch';
import type { ChainBreakRecorder } from '../../chain/chain-breaks.ts';
import { systemScope, type TenantDatabase } from '../../platform/database/tenant-scope.ts';
import { logStore } from '../log-store.ts';
import { whereWhole } from '../log-tree-store.ts';
import { watchStore } from './watch-store.ts';

export interface LogWatchCheckDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  breaks: Pick<ChainBreakRecorder, 'record'>;
  /** The keys that ever signed checkpoints; a revoked key's signatures do not count. */
  checkpointKeys(): Promise<readonly KeyEntry[]>;
  now: () => Date;
}

export interface LogWatchCheck {
  /**
   * Remembers the highest checkpoint of a data plane, and records a break, once and with an alert,
   * when one that was signed here is no longer in the log.
   *
   * @param report caller-controlled
   */
  check(tenantId: string, deploymentId: string, report: LogWatchReport): Promise<void>;
}

/**
 * The limit of recorded breaks: more would not help a reader, and a data plane that keeps many
 * checkpoints could fill the list.
 */
export const MAX_LOG_BREAKS = 100;

interface Signed extends SeenCheckpoint {
  time: string;
}

export function createLogWatchCheck(deps: LogWatchCheckDeps): LogWatchCheck {
  const { db, breaks, now } = deps;

  /** Positions that this service signed, highest first, without duplicates. */
  async function readSigned(tenantId: string, notes: readonly string[]): Promise<Signed[]> {
    const keys = checkpointKeys({ keys: await deps.checkpointKeys(), rotations: [] });
    const found = new Map<string, Signed>();
    for (const note of notes) {
      try {
        const signed = parseCheckpoint(note);
        const place = readLogOrigin(signed.checkpoint.origin);
        if (!place || findSignatureFault(signed, tenantId, keys)) continue;
        const { size, root, time } = signed.checkpoint;
        const { epoch } = place;
        if (size > 0) found.set(`${epoch}/${size}/${root}`, { epoch, size, root, note, time });
      } catch {
        // Not a checkpoint: it proves nothing.
      }
    }
    return [...found.values()].sort((a, b) => b.epoch - a.epoch || b.size - a.size);
  }

  /** The checkpoints missing from the log, with what the log has instead. */
  function findLost(tenantId: string, deploymentId: string, signed: readonly Signed[]) {
    return db.inTenant(systemScope(tenantId), async (tx) => {
      const store = logStore(tx);
      const head = await store.findHead();
      const [highest] = signed;
      if (highest) await watchStore(tx).remember(deploymentId, highest, now());
      const lost: { seen: Signed; actual: string }[] = [];
      for (const seen of signed) {
        const other = signed.find((one) => isSelfContradicting(one, seen));
        if (seen.epoch > head.epoch || seen.size > head.size) {
          lost.push({ seen, actual: `a log of epoch ${head.epoch} and ${head.size} leaves` });
          continue;
        }
        const root = await whereWhole(store.readRoot(seen.size));
        if (root === undefined) lost.push({ seen, actual: 'a log that lacks nodes of it' });
        else if (root !== seen.root) lost.push({ seen, actual: showPlace({ ...seen, root }) });
        else if (other) lost.push({ seen: other, actual: showPlace(seen) });
      }
      const isFull = lost.length > 0 && (await watchStore(tx).countBreaks()) >= MAX_LOG_BREAKS;
      return isFull ? [] : lost;
    });
  }

  return {
    check: async (tenantId, deploymentId, { checkpoints, contradicted }) => {
      const { known = null, told = null } = contradicted ?? {};
      const notes = [...checkpoints, known, told].filter((note) => note !== null);
      const signed = await readSigned(tenantId, notes);
      // The highest suffices: a log that lost a position lost everything after it.
      const [highest] = await findLost(tenantId, deploymentId, signed);
      if (!highest) return;
      const { seen, actual } = highest;
      await breaks.record(tenantId, [
        {
          stream: tenantId,
          epoch: seen.epoch,
          seq: seen.size,
          kind: 'log_went_back',
          expected: showPlace(seen),
          actual,
          detail: `signed here at ${seen.time}, and kept by data plane ${deploymentId}: ${seen.note}`,
          signedAt: new Date(seen.time),
        },
      ]);
    },
  };
}

const showPlace = ({ epoch, size, root }: Pick<SeenCheckpoint, 'epoch' | 'size' | 'root'>) =>
  `log epoch ${epoch}, ${size} leaves, root ${root}`;
