/**
 * Group commit: batches that arrive while a transaction of their tenant runs are stored together in
 * the next one. A tenant's transactions wait for each other's commits anyway (ADR 5), so these
 * batches share one. Starting the next group while one is in progress made no measurable
 * difference.
 */
export interface GroupItem {
  /**
   * A group holds at most one item of a stream: the next one depends on the head that it leaves.
   */
  stream: string;
  records: number;
  bytes: number;
}

export interface GroupLimits {
  items: number;
  records: number;
  bytes: number;
}

interface Waiting<T, R> {
  item: T;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/**
 * @param store stores the items of one tenant, all or none, and answers in their order
 * @returns a function that resolves with the item's answer
 */
export function createGroupQueue<T extends GroupItem, R>(
  limits: GroupLimits,
  store: (tenantId: string, items: T[]) => Promise<R[]>,
): (tenantId: string, item: T) => Promise<R> {
  const queues = new Map<string, Waiting<T, R>[]>();

  async function drain(tenantId: string, queue: Waiting<T, R>[]): Promise<void> {
    while (queue.length > 0) await settle(tenantId, takeGroup(queue, limits));
    queues.delete(tenantId);
  }

  async function settle(tenantId: string, group: Waiting<T, R>[]): Promise<void> {
    try {
      const items = group.map((waiting) => waiting.item);
      const results = await store(tenantId, items);
      for (const [i, { resolve }] of group.entries()) resolve(results[i] as R);
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      // A failing item must not fail the others: each is stored alone.
      else for (const alone of group) await settle(tenantId, [alone]);
    }
  }

  return (tenantId, item) =>
    new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject };
      const queue = queues.get(tenantId);
      if (queue) {
        queue.push(waiting);
        return;
      }
      const begun = [waiting];
      queues.set(tenantId, begun);
      void drain(tenantId, begun);
    });
}

/** Removes the next group from a queue that is not empty: in order, up to the limits. */
function takeGroup<T extends GroupItem, R>(
  queue: Waiting<T, R>[],
  limits: GroupLimits,
): Waiting<T, R>[] {
  const group: Waiting<T, R>[] = [];
  const streams = new Set<string>();
  const left: Waiting<T, R>[] = [];
  let records = 0;
  let bytes = 0;
  for (const waiting of queue) {
    const { item } = waiting;
    const fits =
      group.length < limits.items &&
      records + item.records <= limits.records &&
      bytes + item.bytes <= limits.bytes;
    if ((fits || group.length === 0) && !streams.has(item.stream)) {
      group.push(waiting);
      records += item.records;
      bytes += item.bytes;
    } else left.push(waiting);
    // Also for an item that has to wait, so that no later item of its stream overtakes it.
    streams.add(item.stream);
  }
  queue.splice(0, queue.length, ...left);
  return group;
}
