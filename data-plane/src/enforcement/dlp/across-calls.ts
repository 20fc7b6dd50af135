/**
 * Findings over several calls: a value that is sent piece by piece (specification 1, section 6).
 * Kept only in memory, bounded for each tenant and agent. One pattern in several sessions is found
 * at the control plane, over all data planes.
 */

import { hash } from 'node:crypto';
import type { DlpScanner } from '@governance/shared/detect/dlp/scan-contract';
import type { DlpFinding } from '@governance/shared/detect/findings';
import { LRUCache } from 'lru-cache';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import type { Caller } from '../call/calls.ts';
import { AgentTrail, type Joined, type Pieces, piecesOf, tokenOf } from './agent-trail.ts';
import { patternsOf } from './dlp-findings.ts';

/** A call that leaves an agent. */
export interface Sent {
  readonly caller: Caller;
  readonly serverId: string;
  readonly toolName: string;
  /** The id of its decision. */
  readonly eventId: string;
}

/** A longer name is remembered by its hash. */
const MAX_NAME = 200;
const COOL_DOWN_MS = 5 * 60_000;
/** Agents of one tenant that are remembered: the most recently active. */
const MAX_AGENTS = 1_000;
const MAX_TENANTS = 1_000;
/** Texts of one call that are joined to those of earlier calls: those most like parts of a key. */
const MAX_TEXTS = 4;
/** Values of one call that are searched for texts. */
const MAX_VALUES = 256;
/** UTF-16 units that a finding must have on each side of the boundary. */
const MIN_SHARE = 3;

/** The disguise of a value that several calls send piece by piece. */
const IN_PIECES = 'fragments';

export function createAcrossCalls(deps: {
  raiseAlert: RaiseAlert;
  /** The requester, in a form that may be recorded. */
  protectRequester(caller: Caller): string | null;
  /** Unix milliseconds. */
  now(): number;
}) {
  const { raiseAlert, protectRequester, now } = deps;
  const tenants = new LRUCache<string, LRUCache<string, AgentTrail>>({ max: MAX_TENANTS });

  function trailOf({ tenantId, agent }: Caller): AgentTrail {
    let agents = tenants.get(tenantId);
    if (agents === undefined) {
      agents = new LRUCache({ max: MAX_AGENTS });
      tenants.set(tenantId, agents);
    }
    let trail = agents.get(agent.id);
    if (trail === undefined) {
      trail = new AgentTrail();
      agents.set(agent.id, trail);
    }
    return trail;
  }

  function aboutOf({ caller, serverId, toolName, eventId }: Sent) {
    return {
      event_id: eventId,
      mcp_server: serverId,
      tool_name: toolName,
      session_id: caller.sessionId,
      requester_id: protectRequester(caller),
    };
  }

  return {
    /**
     * Joins the texts of a call to those of the agent's last calls; raises DLP_FRAGMENT_REASSEMBLY.
     *
     * @param known patterns that the call itself was found to hold: it need not be joined for them
     * @returns critical and high findings of the joined pieces that the call has not alone
     * @throws PatternBudgetError or ScanBudgetError, and forgets the call's pieces, when the patterns
     *   take too long on them
     */
    assemble(
      sent: Sent,
      args: Record<string, unknown>,
      scanner: DlpScanner,
      known: ReadonlySet<string> = NONE,
    ): DlpFinding[] {
      const { caller, serverId, toolName } = sent;
      const texts = textsOf(args);
      if (texts.length === 0) return [];
      const trail = trailOf(caller);
      const at = now();
      const before = trail.pieces();
      const joined: Joined[] = [];
      for (const { name, ends } of texts) {
        if (ends === null) continue;
        const argument = `${serverId} ${toolName} ${shortened(name)}`;
        joined.push(...trail.join(argument, ends.head, ends.tail, at));
      }
      const longest = texts[0]?.token ?? '';
      // A value's pieces may also be in different arguments, or among other words or calls.
      if (longest !== '') {
        joined.push(...trail.pairs('', longest, at), ...trail.join('', longest, longest, at));
      }
      const { found, completed } = scanJoined(joined, scanner, trail, before, known);
      if (found.length === 0) return [];

      // Else a call that a policy denied for it would pass when it is repeated: the earlier pieces
      // have left already. What its other arguments send may be the first piece of another value.
      trail.restoreCompleted(before, completed, at);
      const findings = [
        ...new Map(found.map((finding) => [finding.pattern, finding])).values(),
      ].map(({ pattern, severity, length }) => ({
        pattern,
        severity,
        place: '',
        length,
        disguise: [IN_PIECES],
      }));
      if (trail.mayAlert(at, COOL_DOWN_MS)) {
        raiseAlert(caller.tenantId, {
          alert_type: 'DLP_FRAGMENT_REASSEMBLY',
          severity: 'critical',
          title: 'An agent sends sensitive data piece by piece',
          agent_id: caller.agent.id,
          details: { patterns: patternsOf(findings), ...aboutOf(sent) },
          dedupe_key: `dlp-fragments:${caller.agent.id}`,
        });
      }
      return findings;
    },
  };
}

/**
 * Scans joined pieces. Where that fails, the call is denied and its pieces are forgotten: otherwise
 * its repetition would not be denied.
 */
function scanJoined(
  joined: readonly Joined[],
  scanner: DlpScanner,
  trail: AgentTrail,
  before: Pieces,
  known: ReadonlySet<string>,
) {
  try {
    return splitFindings(joined, scanner, known);
  } catch (error) {
    trail.restore(before, new Set(joined.map((one) => one.argument)));
    throw error;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Separates joined texts: no pattern matches across it. */
const BETWEEN = '\n\u2028\n';

/**
 * Findings that cross the boundary of two pieces, and the arguments whose pieces these are. All texts
 * are scanned at once.
 */
function splitFindings(joined: readonly Joined[], scanner: DlpScanner, known: ReadonlySet<string>) {
  const completed = new Set<string>();
  const parts: { at: number; begin: number; of: Joined }[] = [];
  /** Pieces of an argument are often also those of all calls: equal texts are scanned once. */
  const begins = new Map<string, number>();
  let all = '';
  for (const one of joined) {
    const begin = begins.get(one.text) ?? all.length;
    if (begin === all.length) all += one.text + BETWEEN;
    begins.set(one.text, begin);
    parts.push({ at: begin + one.boundary, begin, of: one });
  }
  if (all === '') return { found: [], completed };
  const found = scanner.scanText(all).filter(({ pattern, severity, start, length, disguise }) => {
    const isGrave = severity === 'critical' || severity === 'high';
    // Many numbers among consecutive ids happen to be valid as a reversed card number.
    const isChance = pattern === 'payment_card' && disguise !== undefined;
    if (!isGrave || isChance || BY_LABEL.has(pattern) || known.has(pattern)) return false;
    // A page's cursor is `eyJ…` too, and names of files have dots.
    const isToken = disguise !== undefined || hasAlgorithm(all.slice(start, start + length));
    if (pattern === 'jwt' && !isToken) return false;
    const split = parts.filter(
      ({ at, begin, of }) =>
        start <= at - MIN_SHARE &&
        start + length >= at + MIN_SHARE &&
        !(of.isPair && BY_CHECKSUM.has(pattern)) &&
        !isWhole({ pattern, start: start - begin, length }, of, scanner),
    );
    for (const { of } of split) completed.add(of.argument);
    return split.length > 0;
  });
  return { found, completed };
}

/** Whether one side holds the value alone, and the other only lengthens it: `Hello` behind a token. */
function isWhole(
  { pattern, start, length }: { pattern: string; start: number; length: number },
  { text, boundary }: Joined,
  scanner: DlpScanner,
): boolean {
  const apart = text.slice(0, boundary) + BETWEEN + text.slice(boundary);
  const end = start + length + BETWEEN.length;
  return scanner
    .scanText(apart)
    .some(
      (one) => one.pattern === pattern && (one.start === start || one.start + one.length === end),
    );
}

/**
 * Whether a header in it says how a JSON Web Token is signed, as each does. More may stand before
 * it, so that its base64 may begin at any of four places.
 */
function hasAlgorithm(token: string): boolean {
  return [0, 1, 2, 3].some((from) => Buffer.from(token.slice(from), 'base64url').includes('"alg"'));
}

/** Found by a checksum, which pairs of ids often have by chance. */
const BY_CHECKSUM: ReadonlySet<string> = new Set(['iban', 'crypto_wallet_secret', 'payment_card']);

/** Found by the word before the value, with which any call may end. */
const BY_LABEL: ReadonlySet<string> = new Set(['secret_assignment']);

/** A text of the arguments, and what of it may be a piece of a value. */
interface Text {
  /** The name of its top-level argument. */
  readonly name: string;
  readonly ends: ReturnType<typeof piecesOf>;
  readonly token: string;
}

/** The texts of the arguments that may be pieces, the one with the longest run of a key first. */
function textsOf(args: Record<string, unknown>): Text[] {
  const found: Text[] = [];
  let seen = 0;
  const visit = (name: string, value: unknown): void => {
    if (++seen > MAX_VALUES) return;
    if (typeof value === 'string') {
      if (value.length < MIN_SHARE) return;
      const [ends, token] = [piecesOf(value), tokenOf(value)];
      if (ends !== null || token !== '') found.push({ name, ends, token });
    } else if (typeof value === 'object' && value !== null) {
      for (const key in value) visit(name, (value as Record<string, unknown>)[key]);
    }
  };
  for (const name in args) visit(name, args[name]);
  return found.sort((a, b) => b.token.length - a.token.length).slice(0, MAX_TEXTS);
}

function shortened(name: string): string {
  return name.length > MAX_NAME ? hash('sha256', name, 'base64') : name;
}
