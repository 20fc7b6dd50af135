/**
 * The shares of requests in progress with MCP servers. Each agent and each tenant has its bound. Of
 * what is shared (a server's connections; a tenant's total) nobody takes more than is left free: a
 * single taker leaves half of it. A tenant always has a few at every server. A request without room
 * waits for a moment, in bounded numbers, and is then refused as busy.
 */
import { type Cancellation, UpstreamFailure } from '../upstream.ts';

export interface ShareLimits {
  /** Requests that one agent may have in progress. */
  agent: number;
  /** Requests that all agents of a tenant may have in progress. */
  tenant: number;
  /** Requests that one way (a server's address) carries at a time, for all tenants. */
  way: number;
  /** How long a request may wait for room. */
  waitMs: number;
}

/** The owner of a request, and the way it takes. */
export interface ShareAccount {
  readonly tenant: string;
  readonly agent: string;
  /** Null where the way is the agent's own: its process. */
  readonly way: { all: string; tenant: string; agent: string } | null;
  readonly key: string;
}

/** Resolves an account once, for everything that counts against it. */
export function shareAccount(tenantId: string, agentId: string, way: string | null): ShareAccount {
  const tenant = `t ${tenantId}`;
  const agent = `a ${tenantId} ${agentId}`;
  const named =
    way === null ? null : { all: `w ${way}`, tenant: `${tenant} ${way}`, agent: `${agent} ${way}` };
  return { tenant, agent, way: named, key: named?.agent ?? agent };
}

interface Waiter {
  account: ShareAccount;
  admit(): void;
}

/** The minimum of a tenant on a way, however full it is. */
const ASSURED = 4;
/** Queues examined when a request ends. */
const LOOKS = 16;

export class FairShares {
  readonly #limits: ShareLimits;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Map<string, number>();
  /** By account; the least recently examined one comes first. */
  readonly #queues = new Map<string, Set<Waiter>>();

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /**
   * Takes room for one request, which `give` ends.
   *
   * @returns undefined when it has room; otherwise the wait, which throws UpstreamFailure
   */
  take(account: ShareAccount, cancellation?: Cancellation): Promise<void> | undefined {
    if (!this.#queues.has(account.key) && this.tryTake(account)) return undefined;
    return this.#wait(account, cancellation);
  }

  /** Whether `take` would throw at once: where that is asked often, the error costs too much. */
  refuses(account: ShareAccount): boolean {
    if (!this.#queues.has(account.key) && this.#findFull(account) === undefined) return false;
    return this.#isCrowded(account);
  }

  /** Whether too many wait already. */
  #isCrowded({ agent, tenant }: ShareAccount): boolean {
    const waiting = (of: string) => this.#waiting.get(of) ?? 0;
    return waiting(agent) >= this.#limits.agent || waiting(tenant) >= this.#limits.tenant;
  }

  /** Takes room if there is some now. */
  tryTake(account: ShareAccount): boolean {
    if (this.#findFull(account) !== undefined) return false;
    this.hold(account);
    return true;
  }

  /** Counts something that exists already, whether there is room for it or not. */
  hold(account: ShareAccount): void {
    for (const key of keysOf(account)) addTo(this.#taken, key, 1);
  }

  give(account: ShareAccount): void {
    for (const key of keysOf(account)) addTo(this.#taken, key, -1);
    if (this.#queues.size > 0) this.#admitNext();
  }

  /** Whose share is used up, if one is: of the agent, of its tenant, or of the way. */
  #findFull({ agent, tenant, way }: ShareAccount): string | undefined {
    const limits = this.#limits;
    const count = (key: string) => this.#taken.get(key) ?? 0;
    const own = count(agent);
    if (own >= limits.agent) {
      return `this agent has ${own} requests under way with MCP servers, which is its share`;
    }
    const ofTenant = count(tenant);
    if (own >= limits.tenant - ofTenant) {
      return `the agents of this tenant have ${ofTenant} requests under way with MCP servers, which is the tenant's share`;
    }
    if (way === null) return undefined;
    const free = Math.max(limits.way - count(way.all), ASSURED);
    const room = free - count(way.tenant);
    if (room <= 0) {
      return "this tenant's share of the connections to the MCP server is taken";
    }
    if (count(way.agent) >= room) {
      return "this agent's share of the connections to the MCP server is taken";
    }
    return undefined;
  }

  #wait(account: ShareAccount, cancellation: Cancellation | undefined): Promise<void> {
    const { agent, tenant, key } = account;
    const limits = this.#limits;
    if (this.#isCrowded(account)) return Promise.reject(busy(this.#findFull(account)));
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(key) ?? new Set();
      const leave = () => {
        clearTimeout(timer);
        if (cancellation) cancellation.onCancel = null;
        addTo(this.#waiting, agent, -1);
        addTo(this.#waiting, tenant, -1);
        queue.delete(waiter);
        if (queue.size === 0 && this.#queues.get(key) === queue) this.#queues.delete(key);
      };
      const waiter: Waiter = {
        account,
        admit: () => {
          leave();
          resolve();
        },
      };
      const timer = setTimeout(() => {
        leave();
        // There may be room by now: requests that ended may have examined other queues.
        if (this.tryTake(account)) resolve();
        else reject(busy(this.#findFull(account)));
      }, limits.waitMs);
      this.#queues.set(key, queue.add(waiter));
      addTo(this.#waiting, agent, 1);
      addTo(this.#waiting, tenant, 1);
      if (!cancellation) return;
      cancellation.onCancel = () => {
        leave();
        reject(new UpstreamFailure('cancelled', 'before it was sent'));
      };
    });
  }

  /** Admits the first request of each queue that has room, in turn. */
  #admitNext(): void {
    for (const key of [...firstKeys(this.#queues, LOOKS)]) {
      const queue = this.#queues.get(key);
      const [first] = queue ?? [];
      if (queue === undefined || first === undefined) continue;
      this.#queues.delete(key);
      this.#queues.set(key, queue);
      if (this.tryTake(first.account)) first.admit();
    }
  }
}

function busy(why: string | undefined): UpstreamFailure {
  return new UpstreamFailure(
    'busy',
    `Busy: ${why ?? 'too many requests wait for MCP servers'}. Try again later.`,
  );
}

function keysOf({ agent, tenant, way }: ShareAccount): string[] {
  return way === null ? [agent, tenant] : [agent, tenant, way.all, way.tenant, way.agent];
}

/** Changes a count, which is forgotten once it is 0. */
export function addTo<K>(counts: Map<K, number>, key: K, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

function* firstKeys(map: ReadonlyMap<string, unknown>, max: number): Generator<string> {
  let left = max;
  for (const key of map.keys()) {
    if (left-- === 0) return;
    yield key;
  }
}
