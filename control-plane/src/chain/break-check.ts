/**
 * Maps a break to the named evidence check (shared/src/evidence/checks) that it fails. A kind is
 * the control plane's own name for a break. It can be more specific than the check, since the
 * control plane knows more than a package contains.
 */
import type { CheckName } from '@governance/shared/evidence/checks/check';
import type { StreamBreakKind } from './chain-walk.ts';

/** Breaks of the tenant's log: its leaves, the nodes above them, and what was signed about it. */
export type LogBreakKind =
  | 'log_leaf'
  | 'log_node'
  | 'log_size'
  | 'log_checkpoint'
  | 'log_anchor'
  | 'log_epoch';

/**
 * Breaks of one stream, of the log, and of the signed members of bundles; an admin head that data
 * planes remember and the chain lacks; a checkpoint that data planes keep and the log lacks.
 */
export type RecordedBreakKind =
  | StreamBreakKind
  | LogBreakKind
  | 'bundle'
  | 'admin_head_went_back'
  | 'log_went_back';

const CHECKS: Partial<Record<RecordedBreakKind, CheckName>> = {
  sequence: 'chain.sequence',
  link: 'chain.links',
  epoch: 'chain.epochs',
  head: 'chain.head',
  signature: 'batch.signature',
  registration: 'keys.anchored',
  missing: 'scope.complete',
  log_leaf: 'log.inclusion',
  log_node: 'log.inclusion',
  log_size: 'log.inclusion',
  log_checkpoint: 'checkpoint.signature',
  log_anchor: 'log.consistency',
  log_epoch: 'log.consistency',
  bundle: 'policy.binding',
  log_went_back: 'log.consistency',
};

/** @returns null where no check of a package can find it */
export function checkOf(found: {
  kind: RecordedBreakKind;
  check?: CheckName | null;
}): CheckName | null {
  return found.check === undefined ? (CHECKS[found.kind] ?? null) : found.check;
}
