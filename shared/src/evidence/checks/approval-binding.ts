/**
 * `approval.binding`: each call that an approval let pass is the approved call, in time, and passed
 * once.
 */

import { z } from 'zod';
import type { AdminActionRecord, DecisionRecord, LedgerRecord } from '../../ledger-record.ts';
import { EVIDENCE_MEMBERS, VOLUME_LIMITS } from '../evidence-package.ts';
import { type Check, isBefore, type Tally } from './check.ts';
import type { Evidence } from './evidence.ts';
import type { KnownKey } from './keyset.ts';
import { lineOf } from './location.ts';

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
type Approval = z.infer<typeof Approval> & { escalation_id: string; at: string };

/** A call that was made under an approval. */
type Redeemed = Pick<
  DecisionRecord,
  'agent_id' | 'mcp_server' | 'tool_name' | 'stream' | 'timestamp'
>;

export function checkApprovals(tally: Tally, evidence: Evidence): Check {
  /** By `<stream>/<grant>`: a use by another data plane is its own fault. */
  const redeemed = new Map<string, Redeemed & { grantId: string; line: number; hash: string }>();
  const approvals = new Map<string, Approval>();
  /** By `<stream>/<escalation>`: another data plane may name one that is not its own. */
  const openings = new Map<string, { event_id: string; instruction_hash: string }>();

  function read(record: LedgerRecord | null, signer: KnownKey | undefined): void {
    if (record?.type === 'hold_opened') {
      openings.set(`${record.stream}/${record.escalation_id}`, record);
    } else if (record?.type === 'admin_action' && record.action === 'escalation_approved') {
      // Only the control plane approves: a data plane's stream cannot say so.
      if (signer?.purpose !== 'batch') return;
      const approval = readApproval(record);
      if (approval) approvals.set(approval.grant_id, approval);
    }
  }

  function findFault(call: Redeemed, approval: Approval | undefined): string | undefined {
    if (!approval) return 'the approval is not shown';
    const { agent_id, mcp_server, tool_name, deployment_id, grant_expires_at } = approval;
    const isSame =
      call.agent_id === agent_id &&
      call.mcp_server === mcp_server &&
      call.tool_name === tool_name &&
      call.stream === deployment_id;
    if (!isSame) return 'another call was approved';
    if (isBefore(grant_expires_at, call.timestamp)) return 'the approval was over';
    if (isBefore(call.timestamp, approval.at)) return 'the approval came after the call';
    const opening = openings.get(`${deployment_id}/${approval.escalation_id}`);
    const isOfHold =
      !opening ||
      (opening.event_id === approval.event_id &&
        opening.instruction_hash === approval.instruction_hash);
    return isOfHold ? undefined : 'the approval is of another hold';
  }

  return {
    event: ({ line, record, batch, hash, isRepeated }) => {
      if (!isRepeated) read(record, batch?.signer ?? adminSigner(evidence, record));
      if (record?.type !== 'decision' || record.v !== 2 || record.grant_id === null) return;
      const location = lineOf(EVIDENCE_MEMBERS.events, line);
      const { grant_id: grantId, stream } = record;
      const use = `${stream}/${grantId}`;
      const known = redeemed.get(use);
      // A repeated place may hold another call where the record after it could not be read.
      if (known) {
        if (!isRepeated || known.hash !== hash) tally.fail('an approval was used twice', location);
      } else if (redeemed.size >= VOLUME_LIMITS.causes) {
        tally.fail('there are more approvals than a volume may have', location);
      } else {
        const { agent_id, mcp_server, tool_name, timestamp } = record;
        const call = { agent_id, mcp_server, tool_name, stream, timestamp };
        redeemed.set(use, { ...call, grantId, line, hash });
      }
    },
    cause: ({ record, batch }) => read(record, batch?.signer),
    end: () => {
      for (const call of redeemed.values()) {
        const fault = findFault(call, approvals.get(call.grantId));
        tally.judge(fault, EVIDENCE_MEMBERS.events, call.line);
      }
    },
  };
}

function readApproval({ target, details, timestamp }: AdminActionRecord): Approval | undefined {
  const read = Approval.safeParse(details);
  if (!read.success || !target.startsWith('escalation/')) return undefined;
  return { ...read.data, escalation_id: target.slice('escalation/'.length), at: timestamp };
}

/**
 * In a selective package a record's batch comes later: any batch of its stream names the writer.
 */
export function adminSigner(evidence: Evidence, record: LedgerRecord | null): KnownKey | undefined {
  if (record?.type !== 'admin_action') return undefined;
  return evidence.signers.get(record.stream);
}
