/**
 * Decides whether two signed heads of a tenant's admin chain can both belong to one chain that only
 * grew. Data planes check what they receive with it, and control planes what data planes report.
 */
import type { AdminHead } from './signed-statement.ts';

/**
 * Two replicas of a control plane answer in turn, each by its own clock and from a read that is some
 * seconds old: a lower head counts when it is later than the higher one by more than this.
 */
const ADMIN_HEAD_SKEW_MS = 2 * 60_000;

/** Orders heads of one stream by position. */
export function compareAdminHeads(a: AdminHead, b: AdminHead): number {
  return a.epoch - b.epoch || a.seq - b.seq;
}

/**
 * Whether a chain with the head `known` cannot later have the head `told`.
 *
 * @param known signed before
 * @param told signed by the same control plane for the same tenant
 */
export function isContradicted(known: AdminHead, later: AdminHead): boolean {
  if (known.stream !== later.stream) return true;
  const order = compareAdminHeads(later, known);
  if (order === 0) return later.hash !== known.hash;
  return order < 0 && Date.parse(later.time) > Date.parse(known.time) + ADMIN_HEAD_SKEW_MS;
}
