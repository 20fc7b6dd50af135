/**
 * A queue with turns by tenant; within a tenant by lane, and within a lane by agent, so that many
 * jobs of one do not delay the others. Proven by fair-queue.test.ts.
 */

/**
 * What a job belongs to: a call that is not made yet, the answer to one that was, or what is kept of
 * such an answer. Lanes take turns and have places of their own: new calls neither hold up nor crowd
 * out the answers to earlier ones, and answers that come without end hold up no call.
 */
export type Lane = 'call' | 'answer' | 'kept-answer';

/** A job's place in the queue. */
export interface Place {
  readonly tenantId: string;
  readonly agentId: string;
  readonly lane: Lane;
}

/** The jobs of a tenant in one lane. */
interface Jobs<T> {
  count: number;
  readonly byAgent: Map<string, Set<T>>;
}

export class FairQueue<T> {
  /** By tenant, lane and agent. At each level the first entry has the next turn. */
  readonly #tenants = new Map<string, Map<Lane, Jobs<T>>>();

  add({ tenantId, lane, agentId }: Place, item: T): void {
    const lanes = this.#tenants.get(tenantId) ?? new Map<Lane, Jobs<T>>();
    const jobs = lanes.get(lane) ?? { count: 0, byAgent: new Map<string, Set<T>>() };
    const own = jobs.byAgent.get(agentId) ?? new Set<T>();
    this.#tenants.set(tenantId, lanes);
    lanes.set(lane, jobs);
    jobs.byAgent.set(agentId, own);
    own.add(item);
    jobs.count++;
  }

  delete({ tenantId, lane, agentId }: Place, item: T): void {
    const lanes = this.#tenants.get(tenantId);
    const jobs = lanes?.get(lane);
    const own = jobs?.byAgent.get(agentId);
    if (!lanes || !jobs || !own?.delete(item)) return;
    jobs.count--;
    if (own.size === 0) jobs.byAgent.delete(agentId);
    if (jobs.count === 0) lanes.delete(lane);
    if (lanes.size === 0) this.#tenants.delete(tenantId);
  }

  /**
   * Whether one job more may wait: in each lane an agent takes no more of its tenant's places than
   * are left free (ADR 34). One that has none waiting always finds one.
   *
   * @param places of one tenant in a lane
   */
  hasRoom({ tenantId, lane, agentId }: Place, places: number): boolean {
    const jobs = this.#tenants.get(tenantId)?.get(lane);
    if (jobs === undefined) return true;
    const own = jobs.byAgent.get(agentId)?.size ?? 0;
    return own === 0 || own < places - jobs.count;
  }

  /**
   * Takes the oldest job of the agent whose turn it is.
   *
   * @param mayGo whether a tenant may have a turn now
   */
  take(mayGo: (tenantId: string) => boolean): T | undefined {
    for (const [tenantId, lanes] of this.#tenants) {
      if (!mayGo(tenantId)) continue;
      for (const [lane, { byAgent }] of lanes) {
        for (const [agentId, items] of byAgent) {
          for (const item of items) {
            this.delete({ tenantId, lane, agentId }, item);
            moveToEnd(byAgent, agentId);
            moveToEnd(lanes, lane);
            moveToEnd(this.#tenants, tenantId);
            return item;
          }
        }
      }
    }
    return undefined;
  }
}

function moveToEnd<K, V>(map: Map<K, V>, key: K): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}
