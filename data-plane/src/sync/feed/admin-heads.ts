/**
 * What this data plane remembers of a tenant's admin chain: the heads that the control plane
 * signed. Truncating or rewriting the chain in the control plane's database contradicts what is
 * kept here, on another machine. Nothing is enforced by it: it is reported. Proven by
 * admin-heads.test.ts.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { compareAdminHeads, isContradicted } from '@governance/shared/channel/admin-head';
import { AdminHeadReport } from '@governance/shared/channel/channels';
import type { AdminHead, SignedAdminHead } from '@governance/shared/channel/signed-statement';
import { storeFileDurably } from '@governance/shared/process/durable-file';
import { failureMessage, type SyncLog } from '../link/sync-failure.ts';

/**
 * Heads that are kept, and how far apart: older heads reveal a chain that was cut and has grown
 * again.
 */
const KEPT = 3;
const SPACING_MS = 2 * 60_000;

export interface WentBack {
  known: SignedAdminHead;
  told: SignedAdminHead;
}

export type AdminHeads = ReturnType<typeof loadAdminHeads>;

/** @param options.onWentBack called once for each contradiction */
export function loadAdminHeads(options: {
  path: string;
  onWentBack: (found: WentBack) => void;
  log: SyncLog;
}) {
  const { path, log } = options;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let { heads, went_back: wentBack } = read(path, log);
  let storing: Promise<void> | undefined;
  let isStored = true;

  /** One write at a time; the next one includes what came in the meantime. */
  function store(): void {
    isStored = false;
    storing ??= (async () => {
      while (!isStored) {
        isStored = true;
        const report: AdminHeadReport = { heads, ...(wentBack && { went_back: wentBack }) };
        await storeFileDurably(path, `${JSON.stringify(report)}\n`).catch((error: unknown) =>
          log.warn({ reason: failureMessage(error) }, 'the head of the admin chain was not kept'),
        );
      }
      storing = undefined;
    })();
  }

  function contradict(known: SignedAdminHead, told: SignedAdminHead): void {
    wentBack = { known, told };
    // From now on heads are compared with the present chain, so that the next cut shows too.
    heads = [told];
    store();
    options.onWentBack(wentBack);
  }

  return {
    /** Takes a statement whose signature was verified. */
    note: (told: SignedAdminHead): void => {
      const contradicted = heads.find((known) => isContradicted(known.statement, told.statement));
      if (contradicted) {
        contradict(contradicted, told);
        return;
      }
      const [highest, ...earlier] = heads;
      if (highest && compareAdminHeads(told.statement, highest.statement) <= 0) return;
      const before = earlier[0];
      // The previous head is kept beside the new one only at some distance from the one before.
      const keepsHighest =
        highest && (!before || timeOf(highest.statement) - timeOf(before.statement) >= SPACING_MS);
      heads = [told, ...(keepsHighest ? heads : earlier)].slice(0, KEPT);
      store();
    },
    /** For the heartbeat; undefined before the first statement. */
    report: (): AdminHeadReport | undefined =>
      heads.length === 0 ? undefined : { heads, ...(wentBack && { went_back: wentBack }) },
    /** Resolves when what was seen is on disk. */
    stored: async (): Promise<void> => {
      await storing;
    },
  };
}

const timeOf = ({ time }: AdminHead) => Date.parse(time);

function read(path: string, log: SyncLog): AdminHeadReport {
  try {
    return AdminHeadReport.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const isNew = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isNew) log.warn({ path }, 'what was kept of the admin chain cannot be read');
    return { heads: [] };
  }
}
