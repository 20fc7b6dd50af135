/** Puts the parts of the modern era together. */
import type { KeyObject } from 'node:crypto';
import type { Logger } from 'pino';
import type { RulesProvider } from '../../contracts.ts';
import type { ToolCatalogue } from '../../enforcement/tool-catalogue.ts';
import type { UpstreamPool } from '../../upstream/pool.ts';
import type { UpstreamLimits } from '../../upstream/upstream.ts';
import { barOf } from '../barred.ts';
import type { Announce } from '../capabilities.ts';
import type { AnswerFailure } from '../failures.ts';
import type { Guard } from '../guard.ts';
import type { ListCursors } from '../list-cursors.ts';
import type { ListNotes } from '../list-notes.ts';
import type { ListService } from '../list-service.ts';
import { createReadService } from '../read-service.ts';
import { createRecordedLists } from '../recorded-lists.ts';
import { createToolService } from '../tool-service.ts';
import type { UnreadAnswers } from '../unread-answers.ts';
import { createModernHandler, type ModernDeps } from './handler.ts';
import { checkParamHeaders } from './headers.ts';
import { createListen } from './listen.ts';
import { createModernGuard } from './modern-guard.ts';
import { createParkedCalls } from './parked-calls.ts';
import { createModernRequests } from './requests.ts';
import { createTaskHandles } from './task-handles.ts';

export interface ModernGatewayDeps {
  guard: Guard;
  rules: RulesProvider;
  pool: UpstreamPool;
  catalogue: ToolCatalogue;
  lists: ListService;
  cursors: ListCursors;
  notes: ListNotes;
  announce: Announce;
  limits: UpstreamLimits;
  failed: AnswerFailure;
  gateway: { name: string; version: string };
  taskSecret: KeyObject;
  unread: Pick<UnreadAnswers, 'outletOf'>;
  maxStreams: number;
  maxStreamsPerAgent: number;
  keepAliveMs: number;
  challenge: ModernDeps['challenge'];
  now(): number;
  elapsed(): number;
  log: Pick<Logger, 'error' | 'warn'>;
}

/** Builds what answers modern clients. */
export function createModernGateway(deps: ModernGatewayDeps) {
  const { rules, pool, catalogue, lists, announce, limits, gateway, now, elapsed, log } = deps;
  const { timeoutMs, messageBytes } = limits;
  const parked = createParkedCalls({ guard: deps.guard, now, elapsed, timeoutMs });
  const tasks = createTaskHandles(deps.taskSecret);
  const guard = createModernGuard({ guard: deps.guard, parked, tasks, now, elapsed });
  const tools = createToolService({
    guard,
    rules,
    pool,
    catalogue,
    cursors: deps.cursors,
    notes: deps.notes,
    log,
    now,
    async check(caller, { serverId, toolName, args }) {
      // For an agent that may do nothing no server is asked anything.
      if (caller.headers === undefined || barOf(caller, guard) !== undefined) return;
      const { tenantId, agent, peer, era } = caller;
      const asked = { tenantId, serverId, toolName, agent, peer, era };
      const hints = await catalogue.findHints(asked, rules.findActiveRules(tenantId));
      if (hints?.headers) checkParamHeaders(caller.headers, hints.headers, args);
    },
  });
  const reads = createReadService({ guard, rules, now });
  const recorded = createRecordedLists({ guard, tools, lists, rules, now });
  const listen = createListen({
    guard,
    rules,
    reads,
    announce,
    pool,
    unread: deps.unread,
    messageBytes,
    keepAliveMs: deps.keepAliveMs,
    max: deps.maxStreams,
    maxPerAgent: deps.maxStreamsPerAgent,
  });
  const requests = createModernRequests({
    guard,
    tools,
    reads,
    lists: recorded,
    announce,
    rules,
    failed: deps.failed,
    gateway,
    now,
  });
  const handler = createModernHandler({
    failed: deps.failed,
    lists: recorded,
    requests,
    listen,
    parked,
    tools,
    guard,
    unread: deps.unread,
    messageBytes,
    challenge: deps.challenge,
  });
  return { handler, listen };
}
