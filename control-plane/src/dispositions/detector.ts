import type { DecisionRecord } from '@governance/shared/ledger/ledger-record';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { SessionSettings } from '../tenants/session-settings.ts';
import type { DetectorStates } from './detector-states.ts';
import type { SessionDecision } from './disposition.ts';

/** What a client answered to a server's question, as the outcome tells. */
export interface ClientAnswer {
  /** The question's. */
  decision: SessionDecision;
  findings: DecisionRecord['dlp_findings'];
  /** Unix milliseconds. */
  at: number;
}

/** Decisions that no run has examined yet, ordered by time. */
export interface Batch {
  tx: TenantTransaction;
  decisions: readonly SessionDecision[];
  /** Those in which something was found. */
  answers: readonly ClientAnswer[];
  states: DetectorStates;
  settings: SessionSettings;
  now: Date;
  /** The time of the run, for its rows. */
  writtenAt: Date;
}

/** Examines decisions, in the transaction that marks them as seen. */
export type Detect = (batch: Batch) => Promise<void>;

/** The details that an alert gives about the decision that raised it. */
export function about({ record, session }: SessionDecision) {
  return {
    event_id: record.id,
    session_id: session.id,
    mcp_server: record.mcp_server.slice(0, 256).toWellFormed(),
    tool_name: record.tool_name.slice(0, 256).toWellFormed(),
  };
}
