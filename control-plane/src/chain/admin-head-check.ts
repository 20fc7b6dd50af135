/**
 * Compares the admin-chain heads that data planes remember with the chain. The database's owner can
 * cut or rewrite the chain and every head stored beside it, but not the signed heads that data
 * planes keep. Only the control plane's own signature counts, so a hostile data plane cannot fake a
 * break. Proven by admin-chain-cut.pg.test.ts.
 */
import { compareAdminHeads, isContradicted } from '@governance/shared/channel/admin-head';
import type { AdminHeadReport } from '@governance/shared/channel/channels';
import {
  type AdminHead,
  type SignedAdminHead,
  type StatementKey,
  verifyStatement,
} from '@governance/shared/channel/signed-statement';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { ChainBreakRecorder } from './chain-breaks.ts';
import { showPosition } from './chain-position.ts';
import { chainStore } from './chain-store.ts';

export interface AdminHeadCheckDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  breaks: Pick<ChainBreakRecorder, 'record'>;
  /** The keys that sign statements. */
  feedKeys(): Promise<readonly StatementKey[]>;
}

export interface AdminHeadCheck {
  /**
   * Checks a data plane's report. A head that was signed here but is not in the chain is recorded
   * as a break, once, with an alert.
   *
   * @param report caller-controlled
   */
  check(tenantId: string, deploymentId: string, report: AdminHeadReport): Promise<void>;
}

interface Lost {
  head: AdminHead;
  actual: string;
}

export function createAdminHeadCheck(deps: AdminHeadCheckDeps): AdminHeadCheck {
  const { db, breaks } = deps;

  /** The heads that are not in the chain. */
  async function findLost(tenantId: string, heads: readonly SignedAdminHead[]): Promise<Lost[]> {
    const claimed = heads.map(({ statement }) => statement);
    return db.inTenant(systemScope(tenantId), async (tx) => {
      const [admin] = (await tx.db.$queryRaw`
        SELECT admin_stream AS stream, admin_epoch AS epoch, admin_seq::int AS seq, admin_head AS head
        FROM tenant_heads WHERE tenant_id = ${tenantId}::uuid`) as [
        { stream: string; epoch: number; seq: number; head: string },
      ];
      const stored = await chainStore(tx).readHashes(claimed);
      const end = `a chain that ends at ${showPosition(admin)}`;
      return claimed.flatMap((head, index) => {
        const kept = head.stream === admin.stream ? stored[index]?.kept : undefined;
        if (kept === head.hash) return [];
        const { epoch, seq } = head;
        return [{ head, actual: kept ? showPosition({ epoch, seq, head: kept }) : end }];
      });
    });
  }

  return {
    check: async (tenantId, deploymentId, { heads, went_back: wentBack }) => {
      const lost = await findLost(tenantId, heads);
      if (lost.length === 0 && !wentBack) return;
      const keys = await deps.feedKeys();
      const isSigned = (signed: SignedAdminHead) => isOwn(signed, { tenantId, keys });
      const proven = lost.filter(({ head }) =>
        heads.some((signed) => signed.statement === head && isSigned(signed)),
      );
      // Even if the chain was repaired since, the two statements contradict each other.
      if (wentBack && isSigned(wentBack.known) && isSigned(wentBack.told)) {
        const { statement: head } = wentBack.known;
        const { statement: later } = wentBack.told;
        const { epoch, seq, hash } = later;
        const actual = `signed later: ${showPosition({ epoch, seq, head: hash })}`;
        if (isContradicted(head, later)) proven.push({ head, actual });
      }
      // The highest suffices: a chain that lost a position lost everything after it.
      const [highest] = proven.sort((a, b) => compareAdminHeads(b.head, a.head));
      if (!highest) return;
      const { stream, epoch, seq, hash, time } = highest.head;
      await breaks.record(tenantId, [
        {
          stream,
          epoch,
          seq,
          kind: 'admin_head_went_back',
          expected: showPosition({ epoch, seq, head: hash }),
          actual: highest.actual,
          detail: `signed here at ${time}, and remembered by data plane ${deploymentId}`,
          signedAt: new Date(time),
        },
      ]);
    },
  };
}

function isOwn(
  signed: SignedAdminHead,
  trust: { tenantId: string; keys: readonly StatementKey[] },
): boolean {
  try {
    verifyStatement(signed, trust);
    return true;
  } catch {
    return false;
  }
}
