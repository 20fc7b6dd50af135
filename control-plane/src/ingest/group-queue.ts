/**
 * Group commit: batches of a tenant that wait while other transactions of the tenant run are stored
 * together in the next one. They would wait for each other's commits anyway (ADR 5); so they share
 * one.
 */
export interface GroupItem {
  /** At most one item of a stream is in a group: the next one depends on what it leaves. */
  stream: string;
  records: number;
  bytes: number;
}

export interface GroupLimits {
  /**
   * Transactions of a tenant under way at once: with two, the next one is ready when the first
   * commits.
   */
  groups: number;
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
  const tenants = new Map<string, TenantQueue<T, R>>();

  /** Begins as many groups as may run. */
  function begin(tenantId: string, tenant: TenantQueue<T, R>): void {
    while (tenant.running < limits.groups) {
      const group = takeGroup(tenant, limits);
      if (group.length === 0) break;
      tenant.running += 1;
      for (const { item } of group) tenant.busy.add(item.stream);
      void settle(tenantId, group).finally(() => {
        tenant.running -= 1;
        for (const { item } of group) tenant.busy.delete(item.stream);
        begin(tenantId, tenant);
      });
    }
    if (tenant.running === 0) tenants.delete(tenantId);
  }

  async function settle(tenantId: string, group: Waiting<T, R>[]): Promise<void> {
    try {
      const items = group.map((waiting) => waiting.item);
      const results = await store(tenantId, items);
      for (const [i, { resolve }] of group.entries()) resolve(results[i] as R);
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      // What stops one must not stop the others.
      else for (const alone of group) await settle(tenantId, [alone]);
    }
  }

  return (tenantId, item) =>
    new Promise((resolve, reject) => {
      let tenant = tenants.get(tenantId);
      if (!tenant) {
        tenant = { waiting: [], running: 0, busy: new Set() };
        tenants.set(tenantId, tenant);
      }
      tenant.waiting.push({ item, resolve, reject });
      begin(tenantId, tenant);
    });
}

interface TenantQueue<T, R> {
  waiting: Waiting<T, R>[];
  running: number;
  /** The streams of the groups that run. */
  busy: Set<string>;
}

/** Removes the next group from what waits: in order, as far as the limits go. */
function takeGroup<T extends GroupItem, R>(
  { waiting: queue, busy }: TenantQueue<T, R>,
  limits: GroupLimits,
): Waiting<T, R>[] {
  const group: Waiting<T, R>[] = [];
  const streams = new Set(busy);
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
    // Also where it has to wait: those behind it of the same stream wait too.
    streams.add(item.stream);
  }
  queue.splice(0, queue.length, ...left);
  return group;
}
