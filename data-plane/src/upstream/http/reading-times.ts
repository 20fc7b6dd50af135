/**
 * How long the streams of servers take to be read, by the agent that they are for. Each stream has a
 * bound of its own; many at once share one here, since whoever reads them reads nothing else.
 */
import { LRUCache } from 'lru-cache';

/** What an agent's streams may take at once, and of the time beyond that. */
const BURST_MS = 500;
const LASTING_SHARE = 0.5;
/** Agents that are remembered; a forgotten one may take all at once again. */
const MAX_AGENTS = 10_000;

/** @returns whether the agent's streams have taken too much */
export type SpendReading = (begun: number, ended: number) => boolean;

export function createReadingTimes() {
  const agents = new LRUCache<string, { left: number; at: number }>({ max: MAX_AGENTS });
  /** Counts the reading of a chunk; times are milliseconds of the performance clock. */
  return (agent: string, begun: number, ended: number): boolean => {
    const { left, at } = agents.get(agent) ?? { left: BURST_MS, at: begun };
    const rested = Math.min(BURST_MS, left + (ended - at) * LASTING_SHARE);
    const rest = rested - (ended - begun);
    agents.set(agent, { left: Math.max(rest, -BURST_MS), at: ended });
    return rest < 0;
  };
}
