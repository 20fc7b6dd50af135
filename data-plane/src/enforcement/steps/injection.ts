import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import type { InboundFinding } from '@governance/shared/detect/findings';
import type { TextKind } from '@governance/shared/detect/inbound/detector';
import type { Portioned } from '@governance/shared/detect/portions';
import { pointerWithoutText } from '@governance/shared/json/json-pointer';
import {
  DEFAULT_INBOUND_ACTIONS,
  type InboundAction,
  type InboundActions,
} from '@governance/shared/settings/inbound-settings';
import type { RulesProvider } from '../../contracts.ts';
import { isObject } from '../../upstream/message.ts';
import { isRepeatable, isTaskMethod, TOOL_CALL } from '../call/call-kinds.ts';
import type { Ask, Continue, Deny, Escalate } from '../call/calls.ts';
import { extend, proceed } from '../call/pipeline-builder.ts';
import {
  listMember,
  type ReceivedMessage,
  type ReceivedPart,
  rulesFor,
  textsOf,
  withFindings,
} from '../call/received-message.ts';
import { promoted } from '../call/severities.ts';
import { fitsSchema } from '../dlp/fits-schema.ts';
import type { Detector } from '../inbound/detector.ts';
import { classesOf, type ReportInbound } from '../inbound/inbound-alerts.ts';
import type { ScanItem } from '../inbound/item-scanner.ts';
import { nameOfItem, serverOfItem } from '../inbound/listed-items.ts';
import { readable } from '../inbound/readable.ts';
import { describeWhy, replacementOf, type Why } from '../inbound/replacement.ts';
import { NOTHING_FURTHER, type RequestedUris, requestedUris } from '../inbound/requested-uris.ts';
import { sanitize } from '../inbound/sanitized.ts';
import { findTrust, type SourceTrust } from '../inbound/source-trust.ts';
import { detectWhole } from '../inbound/split-texts.ts';
import { denied } from '../permission/eligibility.ts';
import { resultOf } from '../record/refusals.ts';
import type { ToolCatalogue } from '../tools/tool-catalogue.ts';
import { PORTION } from '../turns/scan-turns.ts';

export interface InjectionDeps {
  rules: RulesProvider;
  catalogue: Pick<ToolCatalogue, 'findOutputSchema'>;
  inbound: {
    detector: Detector;
    report: ReportInbound;
    scanItem: ScanItem;
    onFinding(finding: InboundFinding, action: InboundAction): void;
    /** Unix milliseconds. */
    now(): number;
  };
}

/** Characters of a part that are scanned together with the text before it in the stream. */
const MAX_JOINED = 4_096;

/**
 * Scans all text of servers for injections. By severity and the trust in the source, a part with
 * findings is passed on, replaced or held for a person. The step runs after `questions`, whose
 * refusals need no replacement, and before every step that reads or changes the text.
 */
export function* scanForInjection(
  received: ReceivedMessage,
  deps: InjectionDeps,
): Portioned<Continue<ReceivedMessage> | Deny | Escalate> {
  if (received.speaker !== 'server') return proceed(received);
  const settings = rulesFor(received, deps.rules)?.settings ?? null;
  const member = listMember(received);
  return member === undefined
    ? yield* scanWhole(received, settings, deps)
    : yield* scanList(received, member, settings, deps);
}

const UNKNOWN: SourceTrust = { type: null };
const NOTHING_REQUESTED = { uris: [], isWhole: true, further: NOTHING_FURTHER };

/** A task method does not repeat the URIs of the call that began the task. */
function urisOf(ask: Ask): RequestedUris {
  return isTaskMethod(ask.method) ? { ...NOTHING_REQUESTED, isWhole: false } : requestedUris(ask);
}

function trustOf(
  serverId: string,
  { call }: ReceivedMessage,
  settings: BundleSettings | null,
  { inbound }: InjectionDeps,
): SourceTrust {
  if (settings?.inbound === undefined || settings.inbound.rules.length === 0) return UNKNOWN;
  const requested = call === null ? NOTHING_REQUESTED : urisOf(call.ask);
  return findTrust(settings, { serverId, requested }, inbound.now());
}

function* scanWhole(
  received: ReceivedMessage,
  settings: BundleSettings | null,
  deps: InjectionDeps,
): Portioned<Continue<ReceivedMessage> | Deny | Escalate> {
  const { serverId } = received;
  const trust = trustOf(serverId, received, settings, deps);
  if (trust.type === 'trust') return proceed(received);
  if (trust.type === 'block') {
    if (isEmpty(received)) return proceed(received);
    deps.inbound.report({
      received,
      serverId,
      action: 'blocked',
      findings: [],
      ruleId: trust.ruleId,
    });
    return replace(received, 'blocked-source');
  }
  const findings = judged(yield* detect(received, deps.inbound.detector), trust);
  if (findings.length === 0) return proceed(received);
  const action = actionFor(findings, settings, trust);
  // Changed in place: after a denial, the findings are read from this object.
  extend(received, { findings: withFindings(received, { inbound: findings }).findings });
  if (action === 'hold' && releaseOf(received) !== null)
    return yield* release(received, findings, deps);
  const done = action === 'hold' && !isHoldable(received) ? 'substitute' : action;
  count(findings, done, deps);
  deps.inbound.report({
    received,
    serverId,
    action: REPORTED_AS[done],
    findings,
    ruleId: trust.ruleId,
  });
  if (done === 'pass') return proceed(received);
  // The enforcer holds the result, or blocks it where it cannot be held.
  if (done === 'hold') return { kind: 'escalate', reasons: [] };
  return replace(received, { classes: classesOf(findings) });
}

const REPORTED_AS = { pass: 'passed', hold: 'held', substitute: 'substituted' } as const;

/**
 * Whether a part can wait for a person: a result can, since its agent can repeat the call; a part
 * of a stream cannot.
 */
function isHoldable({ call, part }: ReceivedMessage): boolean {
  if (call === null || part.kind === 'notification' || call.ask.model !== undefined) return false;
  if (!isRepeatable(call.ask.method)) return false;
  const { resultType } = part.value as Record<string, unknown>;
  return part.kind === 'error' || resultType === undefined || resultType === 'complete';
}

/** How a person released this result; null where no person did. */
function releaseOf({ call }: ReceivedMessage) {
  return call?.grant?.releaseAs ?? null;
}

function* release(
  received: ReceivedMessage,
  findings: readonly InboundFinding[],
  deps: InjectionDeps,
): Portioned<Continue<ReceivedMessage> | Deny | Escalate> {
  const { part } = received;
  if (releaseOf(received) === 'original' || part.kind === 'notification') return proceed(received);
  const value = yield* sanitize(part.value, deps.inbound.detector, kindOf(received));
  const why = { classes: classesOf(findings) };
  if (value === undefined || !fits(received, value, deps)) return replace(received, why);
  const left: ReceivedPart = { kind: part.kind, raw: JSON.stringify(value), value };
  return proceed({ ...received, part: left, replacedBy: 'injection' });
}

/** Whether a tool's structured content still conforms to its output schema. */
function fits(
  { call, caller, part }: ReceivedMessage,
  after: unknown,
  { catalogue }: InjectionDeps,
): boolean {
  if (call?.ask.method !== TOOL_CALL || part.kind !== 'result') return true;
  const before = isObject(part.value) ? part.value.structuredContent : undefined;
  const schema = catalogue.findOutputSchema(caller, call.ask.serverId, call.ask.name);
  if (before === undefined || schema === undefined || !isObject(after)) return true;
  return fitsSchema(schema, before, after.structuredContent);
}

/** Whether a part has no text: `{}`, or a notification of a change or of progress without text. */
function isEmpty({ part }: ReceivedMessage): boolean {
  if (part.kind === 'notification') {
    const { params = {} } = part;
    // The name of a member may be text too.
    return Object.keys(params).every((name) => WORDLESS.has(name)) && textsOf(params) === '';
  }
  return Object.keys(part.value as object).length === 0;
}

const WORDLESS: ReadonlySet<string> = new Set(['progressToken', 'progress', 'total']);

function replace(received: ReceivedMessage, why: Why): Continue<ReceivedMessage> | Deny {
  const part = replacementOf(received, why);
  if (part !== null) return proceed({ ...received, part, replacedBy: 'injection' });
  return denied(describeWhy(why));
}

function* detect(received: ReceivedMessage, detector: Detector): Portioned<InboundFinding[]> {
  const { part, carry } = received;
  const size = part.kind === 'notification' ? 0 : part.raw.length;
  // Decoding blobs takes a turn of its own: many answers may arrive in one.
  if (size >= PORTION) yield size;
  const value = part.kind === 'notification' ? part.params : readable(part.value);
  if (size >= PORTION) yield size;
  const kind = kindOf(received);
  const findings = yield* detectWhole(value, detector, { kind });
  if (carry === '') return findings;
  // In the joined text only findings across the boundary are new.
  const joined = carry + textsOf(value).slice(0, MAX_JOINED);
  for (const one of detector.inText(joined, { kind }).findings) {
    const isOverSeam = one.start < carry.length && one.start + one.length > carry.length;
    const { class: name, severity, length, score } = one;
    if (isOverSeam) findings.push({ class: name, severity, place: '', length, score });
  }
  return findings;
}

function kindOf({ part, call, isIntroduction }: ReceivedMessage): TextKind {
  if (part.kind === 'error') return 'error';
  if (part.kind === 'notification') return 'other';
  if (call === null) return isIntroduction ? 'tool_description' : 'question';
  if (call.ask.method === 'prompts/get') return 'prompt';
  return call.ask.method === TOOL_CALL || call.ask.method === 'resources/read' ? 'result' : 'other';
}

function judged(findings: readonly InboundFinding[], { type }: SourceTrust): InboundFinding[] {
  return findings.map((finding) => ({
    ...finding,
    severity: type === 'untrusted' ? promoted(finding.severity) : finding.severity,
    // A server's names of members may themselves be what was found.
    place: pointerWithoutText(finding.place),
  }));
}

function actionFor(
  findings: readonly InboundFinding[],
  settings: BundleSettings | null,
  { type }: SourceTrust,
): InboundAction {
  const { actions = DEFAULT_INBOUND_ACTIONS, untrusted_actions } = settings?.inbound ?? {};
  const chosen: InboundActions = (type === 'untrusted' ? untrusted_actions : null) ?? actions;
  const has = (action: InboundAction) =>
    findings.some(({ severity }) => severity !== 'info' && chosen[severity] === action);
  // A part with a finding to be replaced is never held instead: a person could release it whole.
  if (has('substitute')) return 'substitute';
  return has('hold') ? 'hold' : 'pass';
}

function count(
  findings: readonly InboundFinding[],
  action: InboundAction,
  { inbound }: InjectionDeps,
): void {
  for (const finding of findings) inbound.onFinding(finding, action);
}

/** The action for a list, which cannot wait for a person. */
function listAction(...about: Parameters<typeof actionFor>): 'pass' | 'substitute' {
  return actionFor(...about) === 'pass' ? 'pass' : 'substitute';
}

/** The items of one server for which the same was done. */
interface ServersItems {
  findings: InboundFinding[];
  items: string[];
  ruleId?: string | undefined;
}

/**
 * Scans the text of a list beside its items. It comes from the list's server; in a list of the
 * unified gateway it comes from the gateway, and is not scanned.
 */
function* scanAround(
  received: ReceivedMessage,
  rest: Record<string, unknown>,
  settings: BundleSettings | null,
  deps: InjectionDeps,
): Portioned<{ findings: readonly InboundFinding[]; isClean: boolean }> {
  const { serverId } = received;
  if (serverId === '' || Object.keys(rest).length === 0) return { findings: [], isClean: true };
  const trust = trustOf(serverId, received, settings, deps);
  if (trust.type === 'trust') return { findings: [], isClean: true };
  if (trust.type === 'block') return { findings: [], isClean: false };
  const findings = judged(yield* deps.inbound.detector.inValue(rest, { kind: 'other' }), trust);
  if (findings.length === 0) return { findings, isClean: true };
  const action = listAction(findings, settings, trust);
  count(findings, action, deps);
  deps.inbound.report({
    received,
    serverId,
    action: REPORTED_AS[action],
    findings,
    ruleId: trust.ruleId,
  });
  return { findings, isClean: action === 'pass' };
}

/** Lists of what the server itself offers; of resources it may repeat others' titles. */
const DESCRIBED = new Set(['tools', 'prompts']);

/** Scans a list by its items. Items that would be replaced elsewhere are removed. */
function* scanList(
  received: ReceivedMessage,
  member: string,
  settings: BundleSettings | null,
  deps: InjectionDeps,
): Portioned<Continue<ReceivedMessage>> {
  const value =
    received.part.kind === 'result' && isObject(received.part.value) ? received.part.value : {};
  const { [member]: listed, ...others } = value;
  const items = Array.isArray(listed) ? listed : [];
  const kind = DESCRIBED.has(member) ? 'tool_description' : 'other';
  const told = new Map<string, ServersItems & { action: 'passed' | 'substituted' | 'blocked' }>();
  const trusts = new Map<string, SourceTrust>();
  const all: InboundFinding[] = [];

  const note = (
    serverId: string,
    action: 'passed' | 'substituted' | 'blocked',
    item: unknown,
    findings: readonly InboundFinding[],
    ruleId: string | undefined,
  ) => {
    const key = `${action} ${serverId}`;
    const known = told.get(key) ?? { action, findings: [], items: [], ruleId };
    told.set(key, known);
    known.findings.push(...findings);
    known.items.push(nameOfItem(item));
  };

  function* isKept(item: unknown, at: number): Portioned<boolean> {
    const serverId = settings === null ? received.serverId : serverOfItem(received, settings, item);
    const trust = trusts.get(serverId) ?? trustOf(serverId, received, settings, deps);
    trusts.set(serverId, trust);
    if (trust.type === 'trust') return true;
    if (trust.type === 'block') {
      note(serverId, 'blocked', item, [], trust.ruleId);
      return false;
    }
    const found = judged(yield* deps.inbound.scanItem(item, kind), trust);
    if (found.length === 0) return true;
    const action = listAction(found, settings, trust);
    count(found, action, deps);
    const placed = found.map((one) => ({
      ...one,
      place: `/${member}/${at}${one.place}`.slice(0, 256),
    }));
    all.push(...placed);
    note(serverId, REPORTED_AS[action], item, placed, trust.ruleId);
    return action === 'pass';
  }

  const kept: unknown[] = [];
  for (const [at, item] of items.entries()) if (yield* isKept(item, at)) kept.push(item);

  for (const [key, { action, findings, items: names, ruleId }] of told) {
    const serverId = key.slice(action.length + 1);
    deps.inbound.report({ received, serverId, action, findings, ruleId, items: names });
  }
  const { nextCursor, ...rest } = others;
  const around = yield* scanAround(received, rest, settings, deps);
  const { isClean } = around;
  all.push(...around.findings);
  const next = all.length === 0 ? received : withFindings(received, { inbound: all });
  if (kept.length === items.length && isClean) return proceed(next);
  const shown = isClean ? others : { ...(nextCursor !== undefined && { nextCursor }) };
  return proceed({
    ...next,
    part: resultOf({ ...shown, [member]: kept }),
    replacedBy: 'injection',
  });
}
