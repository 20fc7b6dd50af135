/**
 * A process with several hundred simulated data planes. Each is registered like a real one, with
 * its own keys and token, keeps the same long polls open (its feed, with cursor and digest, and its
 * bundle, with the last entity tag), and sends heartbeats. Pages are neither verified nor stored,
 * so that the readers are not what is measured.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_PATHS, REVISION_HEADER } from '@governance/shared/channel/channel-routes';
import type { FeedPage, RegistrationReply } from '@governance/shared/channel/channels';
import { FEED_START, feedDigest } from '@governance/shared/channel/feed-chain';
import { Agent, request } from 'undici';
import { aRegistration } from '../../tests/support/a-registration.ts';
import { serveParent } from './child.ts';
import { clockMs } from './figures.ts';

export interface ReadersOptions {
  cpUrl: string;
  token: string;
  /** How many to add. */
  count: number;
}

export type ExpectedChange =
  | { kind: 'agent'; agentId: string; status: string }
  | { kind: 'bundle'; after: number };

/** By reader: when the page with the change arrived, and the bundle if one was expected. */
export interface Received {
  feed: (number | null)[];
  bundle: (number | null)[];
  failures: string[];
}

interface Reader {
  cursor: number;
  digest: string;
  revision: number;
  feedAt: number | null;
  bundleAt: number | null;
}

/** As for a data plane (feed-follower.ts, bundle-sync.ts, heartbeat.ts). */
const WAIT_SECONDS = 25;
const PAGE = 500;
const HEARTBEAT_MS = 60_000;
const RETRY_MS = 1_000;
const GIVE_UP_MS = 60_000;
const REGISTER_AT_ONCE = 4;

const agent = new Agent({ keepAliveTimeout: 60_000, pipelining: 1 });
const readers: Reader[] = [];
const failures: string[] = [];
let expected: ExpectedChange | undefined;
let isEnding = false;

async function addReader({ cpUrl, token }: ReadersOptions): Promise<void> {
  const answer = await request(`${cpUrl}${CHANNEL_PATHS.register}`, {
    dispatcher: agent,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(aRegistration({ label: 'simulated' }).provenWith(token)),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`register: ${answer.statusCode} ${text}`);
  const registered = JSON.parse(text) as RegistrationReply;
  const reader: Reader = {
    cursor: 0,
    digest: FEED_START,
    revision: 0,
    feedAt: null,
    bundleAt: null,
  };
  const ask = createAsk(cpUrl, registered);
  const first = Promise.all([ask.readFeed(reader, 0), ask.pullBundle(reader, 0)]);
  await first;
  readers.push(reader);
  void repeat(() => ask.readFeed(reader, WAIT_SECONDS));
  void repeat(() => ask.pullBundle(reader, WAIT_SECONDS));
  void repeat(async () => {
    // Staggered, as real ones do not all start at once.
    await sleep(HEARTBEAT_MS * (0.5 + Math.random() / 2), undefined, { ref: false });
    await ask.beat(reader);
  });
}

function createAsk(cpUrl: string, registered: RegistrationReply) {
  const { tenant_id: tenantId, deployment_id: deploymentId } = registered;
  const authorization = `Bearer ${registered.token.token}`;
  const started = performance.now();
  let etag: string | undefined;
  const send = async (path: string, options: Parameters<typeof request>[1]) => {
    const answer = await request(`${cpUrl}${path}`, {
      dispatcher: agent,
      headersTimeout: (WAIT_SECONDS + 30) * 1_000,
      ...options,
      headers: { authorization, ...(options?.headers as Record<string, string>) },
    });
    if (answer.statusCode < 300 || answer.statusCode === 304) return answer;
    throw new Error(`${path}: ${answer.statusCode} ${await answer.body.text()}`);
  };
  return {
    readFeed: async (reader: Reader, wait: number) => {
      const { cursor, digest } = reader;
      const query = { cursor, digest, limit: PAGE, wait, backlog: 0 };
      const answer = await send(CHANNEL_PATHS.feed(deploymentId), { query });
      const page = JSON.parse(await answer.body.text()) as FeedPage;
      const at = clockMs();
      const { statement } = page.statement;
      reader.digest =
        page.cursor === statement.feed_seq
          ? statement.feed_digest
          : page.entries.reduce(feedDigest, digest);
      reader.cursor = page.cursor;
      if (expected && reader.feedAt === null && holds(page, expected)) reader.feedAt = at;
    },
    pullBundle: async (reader: Reader, wait: number) => {
      const answer = await send(CHANNEL_PATHS.bundle(tenantId), {
        headers: { prefer: `wait=${wait}`, ...(etag !== undefined && { 'if-none-match': etag }) },
      });
      const body = await answer.body.arrayBuffer();
      const at = clockMs();
      if (answer.statusCode === 304) return;
      if (body.byteLength === 0) throw new Error('a bundle without a body');
      etag = answer.headers.etag as string;
      reader.revision = Number(answer.headers[REVISION_HEADER]);
      if (expected?.kind !== 'bundle' || reader.bundleAt !== null) return;
      if (reader.revision > expected.after) reader.bundleAt = at;
    },
    beat: async (reader: Reader) => {
      const answer = await send(CHANNEL_PATHS.heartbeat(deploymentId), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          deployment_id: deploymentId,
          active_agent_count: 1,
          proxy_rpm_1m: 0,
          escalations_pending: 0,
          opa_bundle_version: String(reader.revision),
          uptime_seconds: Math.round((performance.now() - started) / 1_000),
        }),
      });
      await answer.body.dump();
    },
  };
}

function holds({ entries }: FeedPage, change: ExpectedChange): boolean {
  return entries.some(({ kind, key, value }) => {
    if (change.kind === 'agent') {
      const { status } = (value ?? {}) as { status?: string };
      return kind === 'agent' && key === change.agentId && status === change.status;
    }
    const { revision = 0 } = (value ?? {}) as { revision?: number };
    return kind === 'bundle' && revision > change.after;
  });
}

async function repeat(step: () => Promise<void>): Promise<void> {
  while (!isEnding) {
    try {
      await step();
    } catch (error) {
      if (isEnding) return;
      failures.push(String(error));
      await sleep(RETRY_MS);
    }
  }
}

serveParent(
  {
    add: async (options: ReadersOptions) => {
      let left = options.count;
      const work = async () => {
        while (left-- > 0) await addReader(options);
      };
      await Promise.all(Array.from({ length: REGISTER_AT_ONCE }, work));
      return readers.length;
    },
    arm: (change: ExpectedChange) => {
      expected = change;
      for (const reader of readers) {
        reader.feedAt = null;
        reader.bundleAt = null;
      }
    },
    revision: () => Math.max(0, ...readers.map(({ revision }) => revision)),
    received: async (): Promise<Received> => {
      const began = clockMs();
      const isDone = () =>
        readers.every(
          ({ feedAt, bundleAt }) =>
            feedAt !== null && (expected?.kind !== 'bundle' || bundleAt !== null),
        );
      while (!isDone() && clockMs() - began < GIVE_UP_MS) await sleep(5);
      return {
        feed: readers.map(({ feedAt }) => feedAt),
        bundle: expected?.kind === 'bundle' ? readers.map(({ bundleAt }) => bundleAt) : [],
        failures: failures.splice(0),
      };
    },
  },
  async () => {
    isEnding = true;
    await agent.destroy();
  },
);
