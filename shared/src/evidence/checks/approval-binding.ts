/**
 * `approval.binding`: each call that an approval let pass is the approved call, in time, and passed
 * once.
 */

import { z } from 'zod';
import type {
  AdminActionRecord,
  DecisionRecord,
  LedgerRecord,
} from '../../ledger/ledger-record.ts';
import { EVIDENCE_MEMBERS, VOLUME_LIMITS } from '../evidence-package.ts';
import { type Check, isBefore, type Tally } from './check.ts';
import { judgeDisputable, toDisputable, warningOf } from './disputes.ts';
import type { DisputableRecord, Evidence } from './evidence.ts';
import type { KnownKey } from './keyset.ts';
import { lineOf } from './location.ts';
import { createShownHolds, type HeldType } from './shown-holds.ts';

/**
 * Where a person lets a held call pass, or a held result reach its agent: the prefix of the target, and
 * the record of the hold, by action. Both are grants that one decision uses.
 */
const TARGETS: Record<string, readonly [prefix: string, held: HeldType] | undefined> = {
  escalation_approved: ['escalation/', 'hold_opened'],
  inbound_hold_allowed_original: ['inbound_hold/', 'result_held'],
  inbound_hold_allowed_sanitized: ['inbound_hold/', 'result_held'],
};

/** An approval, as the control plane records it. */
const Approval = z.looseObject({
  event_id: z.string(),
  agent_id: z.string(),
  mcp_server: z.string(),
  tool_name: z.string(),
  deployment_id: z.string(),
  instruction_hash: z.string(),
  grant_id: z.string(),
  grant_expires_at: z.iso.datetime({ precision: 3 }),
});
export type Approval = z.infer<typeof Approval> & { escalation_id: string; at: string };

/** With the type of the record that its hold has. */
type HoldApproval = Approval & { held: HeldType };

/** A call that was made under an approval. */
type Redeemed = Pick<
  DecisionRecord,
  'agent_id' | 'mcp_server' | 'tool_name' | 'stream' | 'timestamp'
>;

interface Use extends Redeemed {
  grantId: string;
  record: DisputableRecord;
}

/** @param skewMs by how much clocks may differ */
export function findApprovalFault(
  call: Redeemed,
  approval: Approval | undefined,
  skewMs?: number,
): string | undefined {
  if (!approval) return 'the approval is not shown';
  const { agent_id, mcp_server, tool_name, deployment_id, grant_expires_at } = approval;
  const isSame =
    call.agent_id === agent_id &&
    call.mcp_server === mcp_server &&
    call.tool_name === tool_name &&
    call.stream === deployment_id;
  if (!isSame) return 'another call was approved';
  if (isBefore(grant_expires_at, call.timestamp, skewMs)) return 'the approval was over';
  if (isBefore(call.timestamp, approval.at, skewMs)) return 'the approval came after the call';
  return undefined;
}

const OF_ANOTHER_HOLD = 'the approval is of another hold';

/**
 * `approval.binding`: each call that an approval let pass is the approved one, after the approval
 * and within its time, once in its stream (docs/evidence-format.md has the rule).
 */
export function checkApprovals(tally: Tally, evidence: Evidence): Check {
  const judged = { tally, evidence, check: 'approval.binding' } as const;
  const uses: Use[] = [];
  /** `<stream>/<grant>/<hash>`: a repeated record is the same use. */
  const known = new Set<string>();
  const approvals = new Map<string, HoldApproval>();
  const holds = createShownHolds(evidence);

  function read(record: LedgerRecord | null, signer: KnownKey | undefined): void {
    if (record?.type === 'admin_action' && Object.hasOwn(TARGETS, record.action)) {
      // Only the control plane approves: a data plane's stream cannot say so.
      if (signer?.purpose !== 'batch') return;
      const approval = readApproval(record);
      if (approval) approvals.set(approval.grant_id, approval);
    }
  }

  /**
   * Undisputed uses first: a batch may repeat a sound use behind a disputed one, where the package
   * begins between them.
   */
  function inOrder(): Use[] {
    const [sound, disputed]: [Use[], Use[]] = [[], []];
    for (const use of uses) {
      const isDisputed = evidence.disputes.isDisputed('approval.binding', use.record);
      (isDisputed ? disputed : sound).push(use);
    }
    return [...sound, ...disputed];
  }

  /**
   * A use by another data plane, or of another call, is its own fault, and uses nothing up; one of
   * another hold does.
   */
  function judgeUses(): void {
    const usedUp = new Set<string>();
    for (const call of inOrder()) {
      const approval = approvals.get(call.grantId);
      const use = `${call.stream}/${call.grantId}`;
      const fault =
        findApprovalFault(call, approval) ??
        (usedUp.has(use) ? 'an approval was used twice' : undefined);
      if (fault === undefined) usedUp.add(use);
      const hold = fault === undefined && approval ? holds.compare(approval) : 'same';
      if (hold === 'disputed') {
        const location = lineOf(EVIDENCE_MEMBERS.events, call.record.line);
        tally.warn(warningOf(call.stream, OF_ANOTHER_HOLD), location);
      } else {
        judgeDisputable(judged, call.record, hold === 'other' ? OF_ANOTHER_HOLD : fault);
      }
    }
  }

  return {
    event: (event) => {
      const { line, record, batch, hash, isRepeated } = event;
      if (!isRepeated) read(record, batch?.signer ?? adminSigner(evidence, record));
      // A hold of before the package may be shown only where a batch repeats it.
      holds.note(record, event);
      if (record?.type !== 'decision' || record.v !== 2 || record.grant_id === null) return;
      const { agent_id, mcp_server, tool_name, stream, timestamp, grant_id: grantId } = record;
      // A repeated place may hold another call where the record after it could not be read.
      const use = `${stream}/${grantId}/${hash}`;
      if (isRepeated && known.has(use)) return;
      if (uses.length >= VOLUME_LIMITS.causes) {
        const location = lineOf(EVIDENCE_MEMBERS.events, line);
        tally.fail('there are more approvals than a volume may have', location);
        return;
      }
      known.add(use);
      const call = { agent_id, mcp_server, tool_name, stream, timestamp };
      uses.push({ ...call, grantId, record: toDisputable(event, record) });
    },
    cause: (cause) => {
      const { record, batch } = cause;
      read(record, batch?.signer);
      if (batch) holds.note(record, cause);
    },
    end: judgeUses,
  };
}

function readApproval(record: AdminActionRecord): HoldApproval | undefined {
  const { action, target, details, timestamp } = record;
  const read = Approval.safeParse(details);
  const [prefix, held] = TARGETS[action] ?? [];
  if (!read.success || !prefix || !held || !target.startsWith(prefix)) return undefined;
  return { ...read.data, escalation_id: target.slice(prefix.length), held, at: timestamp };
}

/**
 * In a selective package a record's batch comes later: any batch of its stream names the writer.
 */
export function adminSigner(evidence: Evidence, record: LedgerRecord | null): KnownKey | undefined {
  if (record?.type !== 'admin_action') return undefined;
  return evidence.signers.get(record.stream);
}
