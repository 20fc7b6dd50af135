import { ScanBudgetError } from '@governance/shared/detect/dlp/scan-budget';
import { PatternBudgetError } from '@governance/shared/detect/engine/pattern-contract';
import type { DlpFinding } from '@governance/shared/detect/findings';
import { actionFor, type ResultAction } from '@governance/shared/settings/dlp-settings';
import type { RulesProvider } from '../../contracts.ts';
import { mayBeOfType } from '../../upstream/modern/results.ts';
import { isList, isTaskMethod, TOOL_CALL } from '../call/call-kinds.ts';
import type { Continue, Deny } from '../call/calls.ts';
import { extend, proceed } from '../call/pipeline-builder.ts';
import {
  type ReceivedMessage,
  type ReceivedPart,
  rulesFor,
  withFindings,
} from '../call/received-message.ts';
import { DONE, describeFindings, strongestOf, TOO_MUCH_TO_SCAN } from '../dlp/dlp-findings.ts';
import { DEFAULT_DLP, dlpOf, type PreparedDlp } from '../dlp/dlp-scanners.ts';
import type { DlpWatch } from '../dlp/dlp-watch.ts';
import type { ReceivedReport } from '../dlp/examine-received.ts';
import { denied } from '../permission/eligibility.ts';
import { internalRefusal } from '../record/refusals.ts';
import type { DlpScans } from '../scan-thread/dlp-scans.ts';
import { ScanFailure } from '../scan-thread/scan-threads.ts';
import type { ToolCatalogue } from '../tools/tool-catalogue.ts';

export interface ReceivedDlpDeps {
  dlp: DlpWatch;
  scans: DlpScans;
  rules: RulesProvider;
  catalogue: Pick<ToolCatalogue, 'findOutputSchema'>;
}

/**
 * Scans an answer or message for sensitive data. Text of a server is blocked, redacted or logged by
 * the tenant's settings for results. A client's answer to a server leaves the agent, so the
 * settings for calls apply to it.
 */
export function scanReceived(
  received: ReceivedMessage,
  deps: ReceivedDlpDeps,
): Continue<ReceivedMessage> | Deny | Promise<Continue<ReceivedMessage> | Deny> {
  const { speaker, part, caller, carry, carriedLast } = received;
  // Texts of the gateway are written by it, or derived from inspected ones.
  if (speaker === 'gateway') return proceed(received);
  const prepared = preparedFor(received, deps);
  const isNotification = part.kind === 'notification';
  const text = {
    isFromClient: speaker === 'client',
    value: isNotification ? (part.params ?? null) : part.value,
    raw: isNotification ? null : part.raw,
    carry,
    carriedLast,
    opaque: opaqueMembersOf(received),
    outputSchema: speaker === 'client' ? undefined : outputSchemaOf(received, deps),
  };
  try {
    const report = deps.scans.received(caller, text, prepared);
    if (!(report instanceof Promise)) return judge(received, report, prepared, deps);
    return report
      .then((found) => judge(received, found, prepared, deps))
      .catch((error: unknown) => refused(error, received, deps));
  } catch (error) {
    return refused(error, received, deps);
  }
}

function judge(
  received: ReceivedMessage,
  report: ReceivedReport,
  prepared: PreparedDlp,
  deps: ReceivedDlpDeps,
): Continue<ReceivedMessage> | Deny {
  const { findings } = report;
  if (findings.length === 0) return proceed(received);
  const found = extend(received, withFindings(received, { dlp: findings }));
  return received.speaker === 'client'
    ? judgeClient(found, findings, prepared, deps)
    : judgeServer(found, report, prepared, deps);
}

/** The denial where a scan did not finish. @throws any other error as it is */
function refused(error: unknown, received: ReceivedMessage, { dlp }: ReceivedDlpDeps): Deny {
  const { caller, serverId, call } = received;
  const place = { serverId, eventId: call?.id ?? null };
  if (error instanceof PatternBudgetError) {
    dlp.gaveUp(caller, place);
    return blocked(received, 'a DLP pattern of the tenant takes too long on it', []);
  }
  if (error instanceof ScanBudgetError) return blocked(received, TOO_MUCH_TO_SCAN, []);
  if (!(error instanceof ScanFailure)) throw error;
  dlp.unscanned(caller, place, error.reason);
  return blocked(received, `it could not be scanned: ${error.message}`, []);
}

function preparedFor(received: ReceivedMessage, { rules }: ReceivedDlpDeps): PreparedDlp {
  const active = rulesFor(received, rules);
  return active === null ? DEFAULT_DLP : dlpOf(active.settings);
}

/** Judges the answer of an agent's client to a server. */
function judgeClient(
  received: ReceivedMessage,
  findings: readonly DlpFinding[],
  { settings }: PreparedDlp,
  { dlp }: ReceivedDlpDeps,
): Continue<ReceivedMessage> | Deny {
  const actionOf = ({ severity }: DlpFinding) => actionFor(settings.outbound, severity);
  dlp.count(findings, 'outbound', (finding) => DONE[actionOf(finding)]);
  if (strongestOf(findings.map(actionOf)) !== 'block') return proceed(received);
  const blocking = findings.filter((finding) => actionOf(finding) === 'block');
  return blocked(received, describeFindings(blocking), blocking);
}

function judgeServer(
  received: ReceivedMessage,
  { findings, redacted }: ReceivedReport,
  prepared: PreparedDlp,
  deps: ReceivedDlpDeps,
): Continue<ReceivedMessage> | Deny {
  const { results } = prepared.settings;
  const actionOf = ({ severity }: DlpFinding): ResultAction => actionFor(results, severity);
  const grave = findings.filter((finding) => actionOf(finding) !== 'log');
  deps.dlp.count(findings, 'result', (finding) => {
    if (actionOf(finding) === 'log') return 'logged';
    return redacted === null ? 'blocked' : 'redacted';
  });
  if (grave.length === 0) return proceed(received);
  if (redacted === null) return blocked(received, describeFindings(grave), grave);
  const { value, raw } = redacted;
  const params = value as Record<string, unknown>;
  const { part } = received;
  const rest: ReceivedPart =
    part.kind === 'notification' ? { ...part, params } : { ...part, value: params, raw };
  return proceed({ ...received, part: rest, replacedBy: 'dlp' });
}

/** The members that only their issuer reads, in results that have these. Others may not hide there. */
function opaqueMembersOf({ speaker, caller, part, call }: ReceivedMessage): readonly string[] {
  if (speaker === 'client' || part.kind === 'error') return [];
  if (part.kind === 'notification') {
    return part.method === 'notifications/progress' ? ['progressToken'] : [];
  }
  if (call === null) return [];
  const { method } = call.ask;
  if (isList(method)) return ['nextCursor'];
  if (isTaskMethod(method)) return OPAQUE_MEMBERS.task;
  // For a legacy client they mean nothing, whatever its server says.
  if (caller.era !== 'modern') return [];
  const { resultType } = part.value as Record<string, unknown>;
  const isNamed = resultType !== undefined && mayBeOfType(method, resultType);
  return isNamed ? OPAQUE_MEMBERS[resultType] : [];
}

const OPAQUE_MEMBERS = { complete: [], input_required: ['requestState'], task: ['taskId'] };

function outputSchemaOf(
  { call, caller, part }: ReceivedMessage,
  { catalogue }: ReceivedDlpDeps,
): unknown {
  if (part.kind !== 'result' || call?.ask.method !== TOOL_CALL) return undefined;
  return catalogue.findOutputSchema(caller, call.ask.serverId, call.ask.name);
}

function blocked(
  received: ReceivedMessage,
  message: string,
  findings: readonly DlpFinding[],
): Deny {
  const { call, speaker } = received;
  const deny = denied(message);
  if (call === null || received.part.kind === 'notification') return deny;
  const names = [...new Set(findings.map(({ pattern }) => pattern))];
  const data = { event_id: call.id, failure: 'blocked', dlp_patterns: names };
  // A server does not learn which patterns the client's answer matched.
  if (speaker === 'client') return deny;
  const what = call.ask.method === TOOL_CALL ? 'The tool was called' : 'The server was asked';
  const text = `${what}, and the gateway blocked its answer: ${message}.`;
  return { ...deny, refusal: internalRefusal(text, data) };
}
