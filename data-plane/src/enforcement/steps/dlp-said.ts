import { ScanBudgetError } from '@governance/shared/detect/dlp/scan-budget';
import { PatternBudgetError } from '@governance/shared/detect/engine/pattern-contract';
import type { DlpFinding } from '@governance/shared/detect/findings';
import { actionFor, type ResultAction } from '@governance/shared/dlp-settings';
import type { RulesProvider } from '../../contracts.ts';
import { mayBeOfType } from '../../upstream/modern/results.ts';
import { isList, isTaskMethod, shownName, TOOL_CALL } from '../call-kinds.ts';
import type { Continue, Deny } from '../calls.ts';
import { DONE, describeFindings, strongestOf, TOO_MUCH_TO_SCAN } from '../dlp/dlp-findings.ts';
import { DEFAULT_DLP, dlpOf, type PreparedDlp } from '../dlp/dlp-scanners.ts';
import type { DlpWatch } from '../dlp/dlp-watch.ts';
import type { SaidReport } from '../dlp/examine-said.ts';
import { denied } from '../eligibility.ts';
import { extend, proceed } from '../pipeline-builder.ts';
import { internalRefusal } from '../refusals.ts';
import { rulesFor, type Said, type SaidPart, withFindings } from '../said.ts';
import type { DlpScans } from '../scan-thread/dlp-scans.ts';
import { ScanFailure } from '../scan-thread/scan-threads.ts';
import type { ToolCatalogue } from '../tool-catalogue.ts';

export interface SaidDlpDeps {
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
export function scanSaid(
  said: Said,
  deps: SaidDlpDeps,
): Continue<Said> | Deny | Promise<Continue<Said> | Deny> {
  const { speaker, part, caller, carry, carriedLast } = said;
  // Texts of the gateway are written by it, or derived from inspected ones.
  if (speaker === 'gateway') return proceed(said);
  const prepared = preparedFor(said, deps);
  const isNotification = part.kind === 'notification';
  const text = {
    isSent: speaker === 'client',
    value: isNotification ? (part.params ?? null) : part.value,
    raw: isNotification ? null : part.raw,
    carry,
    carriedLast,
    opaque: opaqueMembersOf(said),
    outputSchema: speaker === 'client' ? undefined : outputSchemaOf(said, deps),
  };
  try {
    const report = deps.scans.said(caller, text, prepared);
    if (!(report instanceof Promise)) return judge(said, report, prepared, deps);
    return report
      .then((found) => judge(said, found, prepared, deps))
      .catch((error: unknown) => refused(error, said, deps));
  } catch (error) {
    return refused(error, said, deps);
  }
}

function judge(
  said: Said,
  report: SaidReport,
  prepared: PreparedDlp,
  deps: SaidDlpDeps,
): Continue<Said> | Deny {
  const { findings } = report;
  if (findings.length === 0) return proceed(said);
  const found = extend(said, withFindings(said, { dlp: findings }));
  return said.speaker === 'client'
    ? judgeClient(found, findings, prepared, deps)
    : judgeServer(found, report, prepared, deps);
}

/** The denial where a scan did not finish. @throws any other error as it is */
function refused(error: unknown, said: Said, { dlp }: SaidDlpDeps): Deny {
  const { caller, serverId, call } = said;
  const place = { serverId, eventId: call?.id ?? null };
  if (error instanceof PatternBudgetError) {
    dlp.gaveUp(caller, place);
    return blocked(said, 'a DLP pattern of the tenant takes too long on it', []);
  }
  if (error instanceof ScanBudgetError) return blocked(said, TOO_MUCH_TO_SCAN, []);
  if (!(error instanceof ScanFailure)) throw error;
  dlp.unscanned(caller, place, error.reason);
  return blocked(said, `it could not be scanned: ${error.message}`, []);
}

function preparedFor(said: Said, { rules }: SaidDlpDeps): PreparedDlp {
  const active = rulesFor(said, rules);
  return active === null ? DEFAULT_DLP : dlpOf(active.settings);
}

/** Judges the answer of an agent's client to a server. */
function judgeClient(
  said: Said,
  findings: readonly DlpFinding[],
  { settings }: PreparedDlp,
  { dlp }: SaidDlpDeps,
): Continue<Said> | Deny {
  const actionOf = ({ severity }: DlpFinding) => actionFor(settings.outbound, severity);
  dlp.count(findings, 'outbound', (finding) => DONE[actionOf(finding)]);
  const { caller, serverId, call } = said;
  if (call !== null) {
    const sent = { caller, serverId, toolName: shownName(call), eventId: call.id };
    dlp.across.note(sent, findings);
  }
  if (strongestOf(findings.map(actionOf)) !== 'block') return proceed(said);
  const blocking = findings.filter((finding) => actionOf(finding) === 'block');
  return blocked(said, describeFindings(blocking), blocking);
}

function judgeServer(
  said: Said,
  { findings, redacted }: SaidReport,
  prepared: PreparedDlp,
  deps: SaidDlpDeps,
): Continue<Said> | Deny {
  const { results } = prepared.settings;
  const actionOf = ({ severity }: DlpFinding): ResultAction => actionFor(results, severity);
  const grave = findings.filter((finding) => actionOf(finding) !== 'log');
  deps.dlp.count(findings, 'result', (finding) => {
    if (actionOf(finding) === 'log') return 'logged';
    return redacted === null ? 'blocked' : 'redacted';
  });
  if (grave.length === 0) return proceed(said);
  if (redacted === null) return blocked(said, describeFindings(grave), grave);
  const { value, raw } = redacted;
  const params = value as Record<string, unknown>;
  const { part } = said;
  const rest: SaidPart =
    part.kind === 'notification' ? { ...part, params } : { ...part, value: params, raw };
  return proceed({ ...said, part: rest, replacedBy: 'dlp' });
}

/** The members that only their issuer reads, in results that have these. Others may not hide there. */
function opaqueMembersOf({ speaker, caller, part, call }: Said): readonly string[] {
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

function outputSchemaOf({ call, caller, part }: Said, { catalogue }: SaidDlpDeps): unknown {
  if (part.kind !== 'result' || call?.ask.method !== TOOL_CALL) return undefined;
  return catalogue.findOutputSchema(caller.tenantId, call.ask.serverId, call.ask.name);
}

function blocked(said: Said, message: string, findings: readonly DlpFinding[]): Deny {
  const { call, speaker } = said;
  const deny = denied(message);
  if (call === null || said.part.kind === 'notification') return deny;
  const names = [...new Set(findings.map(({ pattern }) => pattern))];
  const data = { event_id: call.id, failure: 'blocked', dlp_patterns: names };
  // A server does not learn which patterns the client's answer matched.
  if (speaker === 'client') return deny;
  const what = call.ask.method === TOOL_CALL ? 'The tool was called' : 'The server was asked';
  const text = `${what}, and the gateway blocked its answer: ${message}.`;
  return { ...deny, refusal: internalRefusal(text, data) };
}
