/**
 * DLP_CROSS_SESSION: an agent sends what one DLP pattern finds in several sessions, at whatever data
 * planes and workers. Proven by cross-session.pg.test.ts.
 */

import type { Severity } from '@governance/shared/ledger/ledger-record';
import { isQuestion } from '@governance/shared/mcp/server-questions';
import { MINUTE_MS } from '@governance/shared/time/durations';
import { patternsAcrossSessions } from '../dlp/dlp-service.ts';
import { keyOf, requesterKeyOf } from '../sessions/session-key.ts';
import { about, type Batch, type Detect } from './detector.ts';
import type { SessionDecision } from './disposition.ts';
import {
  arrange,
  byPattern,
  MIN_SESSIONS,
  placeOf,
  type Sighting,
  widestSpread,
} from './dlp-sightings.ts';
import { sightingStore } from './sighting-store.ts';

const COOL_DOWN_MS = 5 * MINUTE_MS;
/** Patterns of one call that count: a record names 50 findings. */
const MAX_OF_CALL = 50;
/**
 * Alerts of one run, which is one transaction: more come of a data plane that lies. Without a limit
 * its run would end at the transaction's, and so would every later one.
 */
const MAX_RAISED = { agent: 20, tenant: 200 };
const detector = 'dlp_cross_session';

interface Found {
  sighting: Sighting;
  severity: Severity;
  decision: SessionDecision;
}

export const detectCrossSessions: Detect = async (batch) => {
  const { tx, decisions, answers, states, now, writtenAt } = batch;
  const hasFindings = decisions.some(({ record }) => record.dlp_findings.length > 0);
  if (!hasFindings && answers.length === 0) return;
  const patterns = await patternsAcrossSessions(tx);
  const found = patterns ? foundByAgent(decisions, answers, patterns) : new Map<string, Found[]>();
  if (found.size === 0) return;
  const store = sightingStore(tx);
  const remembered = await store.load([...found.keys()], now);
  await states.load([...found.keys()].map((subject) => ({ detector, subject })));
  const changed = [];
  let raised = 0;
  for (const [agentId, all] of found) {
    const known = remembered(agentId);
    changed.push(known);
    const places = new Set(known.arranged.map(placeOf));
    const fresh = new Map<Sighting, Found>();
    for (const one of all) {
      const place = placeOf(one.sighting);
      if (!places.has(place)) fresh.set(one.sighting, one);
      places.add(place);
    }
    known.arranged = arrange([...known.arranged, ...fresh.keys()]);
    let left = Math.min(MAX_RAISED.agent, MAX_RAISED.tenant - raised);
    for (const [pattern, placed] of byPattern(known.arranged)) {
      const spread = widestSpread(placed, (sighting) => fresh.has(sighting));
      const last = spread && fresh.get(spread.sighting);
      if (!last || spread.sessions < MIN_SESSIONS || left-- <= 0) continue;
      raised++;
      const { record } = last.decision;
      await states.raise({ detector, subject: agentId, item: pattern }, COOL_DOWN_MS, {
        alertType: 'DLP_CROSS_SESSION',
        severity: last.severity,
        title: 'An agent sends the same kind of sensitive data in several sessions',
        agentId,
        details: {
          ...about(last.decision),
          pattern,
          sessions: spread.sessions,
          requester_id: record.requester_id?.slice(0, 256).toWellFormed() ?? null,
        },
        dedupeKey: `dlp-cross-session:${agentId}:${pattern}`,
      });
    }
  }
  await store.save(changed, writtenAt);
};

/**
 * What the agents sent, each pattern once a call, by the agent's id in lower case.
 *
 * @param known the tenant's patterns; records may name anything, since whoever has a data plane's key
 *   writes them
 */
function foundByAgent(
  decisions: readonly SessionDecision[],
  answers: Batch['answers'],
  known: ReadonlySet<string>,
): Map<string, Found[]> {
  // What a question itself holds was written by its server.
  const calls = decisions
    .filter(({ record }) => !isQuestion(record.method))
    .map((decision) => ({ decision, findings: decision.record.dlp_findings, at: decision.at }));
  const byAgent = new Map<string, Found[]>();
  for (const { decision, findings, at } of [...calls, ...answers]) {
    const patterns = new Map<string, Severity>();
    for (const { pattern, severity } of findings) {
      if (patterns.size === MAX_OF_CALL) break;
      if (typeof pattern !== 'string' || !known.has(pattern)) continue;
      if (!patterns.has(pattern)) patterns.set(pattern, severity);
    }
    const { record } = decision;
    const agentId = record.agent_id.toLowerCase();
    const { session_id: session } = record;
    const ofSession = {
      sessionKey: session === null ? requesterKeyOf(record) : keyOf('mcp-session', session),
      sessionStartedAt: session === null ? at : null,
    };
    for (const [pattern, severity] of patterns) {
      const sighting = { at, eventId: record.id.toLowerCase(), pattern, ...ofSession };
      const before = byAgent.get(agentId);
      if (before) before.push({ sighting, severity, decision });
      else byAgent.set(agentId, [{ sighting, severity, decision }]);
    }
  }
  return byAgent;
}
