import { ScanBudgetError } from '@governance/shared/detect/dlp/scan-budget';
import { PatternBudgetError } from '@governance/shared/detect/engine/pattern-contract';
import type { DlpFinding } from '@governance/shared/detect/findings';
import { isQuestion } from '@governance/shared/mcp/server-questions';
import { actionFor } from '@governance/shared/settings/dlp-settings';
import type { RulesProvider } from '../../contracts.ts';
import { LIST_MEMBERS } from '../../upstream/lists/list-page.ts';
import { shownName } from '../call/call-kinds.ts';
import type { Ask, CallDlp, ClassifiedCall, Deny, ScannedCall, StepResult } from '../call/calls.ts';
import { extend, proceed } from '../call/pipeline-builder.ts';
import { DONE, describeFindings, strongestOf, TOO_MUCH_TO_SCAN } from '../dlp/dlp-findings.ts';
import { dlpOf, type PreparedDlp, type SentScan } from '../dlp/dlp-scanners.ts';
import { type DlpWatch, placeOf } from '../dlp/dlp-watch.ts';
import { type CallNowDeps, findCallNow, hasMoved } from '../permission/eligibility.ts';
import type { DlpScans } from '../scan-thread/dlp-scans.ts';
import { ScanFailure } from '../scan-thread/scan-threads.ts';
import { judgeAgain } from './judge-again.ts';

export interface DlpDeps extends CallNowDeps {
  dlp: DlpWatch;
  scans: DlpScans;
  rules: RulesProvider;
}

const NOTHING_FOUND: CallDlp = { findings: [], action: null };

/**
 * Step 2: scans everything in a call for sensitive data. A critical finding is denied before any
 * policy is asked; the others are blocked, warned of or logged as the tenant set it, and policies
 * see them.
 */
export function scanCall(
  call: ClassifiedCall,
  deps: DlpDeps,
): StepResult<ScannedCall> | Promise<StepResult<ScannedCall>> {
  const { rules, ask } = call;
  // Without a bundle no call is allowed, and there are no DLP settings.
  if (rules === null) return proceed(extend(call, { dlp: NOTHING_FOUND }));
  const prepared = dlpOf(rules.settings);
  try {
    const found = deps.scans.sent(call.caller, saidBy(ask), prepared);
    if (!(found instanceof Promise)) return judge(call, found, prepared, deps);
    return found
      .then((scan) => judgeLater(call, scan, prepared, deps))
      .catch((error: unknown) => refused(error, call, deps));
  } catch (error) {
    return refused(error, call, deps);
  }
}

/** Judges after a wait: changes by an administrator during the scan apply to the call. */
function judgeLater(
  call: ClassifiedCall,
  scan: SentScan,
  prepared: PreparedDlp,
  deps: DlpDeps,
): StepResult<ScannedCall> {
  const now = findCallNow(call, deps);
  if ('kind' in now) return now;
  // Earlier steps went by the rules and the workflow, too: what they found may no longer be so.
  const isSame = deps.rules.findActiveRules(call.caller.tenantId) === call.rules;
  if (!isSame || hasMoved(call, now)) return judgeAgain(call, now);
  return judge(extend(call, now), scan, prepared, deps);
}

/** The denial where a scan did not finish. @throws any other error as it is */
function refused(error: unknown, call: ClassifiedCall, { dlp }: DlpDeps): Deny {
  if (error instanceof PatternBudgetError) {
    dlp.gaveUp(call.caller, placeOf(call));
    return denied('a DLP pattern of the tenant takes too long on this call');
  }
  if (error instanceof ScanBudgetError) return denied(TOO_MUCH_TO_SCAN);
  if (!(error instanceof ScanFailure)) throw error;
  dlp.unscanned(call.caller, placeOf(call), error.reason);
  return denied(`the call could not be scanned: ${error.message}`);
}

/** @throws PatternBudgetError when the tenant's patterns take too long */
function judge(
  call: ClassifiedCall,
  scan: SentScan,
  prepared: PreparedDlp,
  { dlp }: DlpDeps,
): StepResult<ScannedCall> {
  const { ask } = call;
  const findings = scan.findings.filter((finding) => !isOwnToken(finding, ask));
  const joined = call.fragments ?? findFragments(call, findings, scan.matched, prepared, dlp);
  const fragments = joined ?? [];
  if (findings.length === 0 && fragments.length === 0) {
    return proceed(extend(call, { dlp: NOTHING_FOUND, fragments: joined }));
  }
  const { outbound } = prepared.settings;
  const actionOf = ({ severity }: DlpFinding) => actionFor(outbound, severity);
  const action = strongestOf([
    ...findings.map(actionOf),
    // Fragments are only warned of, since a joined value may be a coincidence. A policy may deny.
    ...fragments.map(() => 'warn' as const),
  ]);
  const all = [...findings, ...fragments];
  const isNew = ({ pattern }: DlpFinding) => !call.reported?.has(`dlp ${pattern}`);
  dlp.count(findings.filter(isNew), 'outbound', (finding) => DONE[actionOf(finding)]);
  dlp.count(fragments.filter(isNew), 'outbound', () => 'warned');
  const scanned = extend(call, {
    dlp: { findings: all, action: DONE[action], matched: scan.matched },
    fragments: joined,
    reported: new Set([...(call.reported ?? []), ...all.map(({ pattern }) => `dlp ${pattern}`)]),
  });
  if (action !== 'block') return proceed(scanned);
  const blocking = findings.filter((finding) => actionOf(finding) === 'block');
  return denied(describeFindings(blocking));
}

/**
 * The content of a call: everything that is forwarded, but for what a server is proven to have
 * written. That includes the request state: it should be the server's, but a client could forge it.
 */
function saidBy(ask: Ask): Record<string, unknown> {
  const { name, retry } = ask;
  const { inputResponses: input_responses, requestState: request_state } = retry ?? {};
  return {
    name,
    arguments: ownArgs(ask),
    ...(input_responses && { input_responses }),
    ...(request_state !== undefined && { request_state }),
  };
}

/** The arguments that the agent wrote. */
function ownArgs({ method, args, hasProvenTask }: Ask): Record<string, unknown> {
  // Only a cursor that this data plane sealed is sent, and in it is what a server wrote.
  if (Object.hasOwn(LIST_MEMBERS, method)) return {};
  if (!hasProvenTask) return args;
  const { taskId: _, ...own } = args;
  return own;
}

/** Whether a finding is the server's signed request state, which is a JWT as a whole. */
function isOwnToken({ pattern, place, length }: DlpFinding, { retry }: Ask): boolean {
  return pattern === 'jwt' && place === '/request_state' && length === retry?.requestState?.length;
}

/** Findings in values that earlier calls began and this one completes; undefined where not looked for. */
function findFragments(
  { caller, ask, id }: ClassifiedCall,
  findings: readonly DlpFinding[],
  matched: SentScan['matched'],
  { scanner, settings }: PreparedDlp,
  { across }: DlpWatch,
): DlpFinding[] | undefined {
  // A server's question to a client is not text of the agent.
  if (!settings.fragments || isQuestion(ask.method)) return undefined;
  const toolName = shownName({ ask, dlp: { matched } });
  const sent = { caller, serverId: ask.serverId, toolName, eventId: id };
  const known = new Set(findings.map(({ pattern }) => pattern));
  const { inputResponses } = ask.retry ?? {};
  const answered = inputResponses && { input_responses: inputResponses };
  return across.assemble(sent, { ...ownArgs(ask), ...answered }, scanner, known);
}

function denied(message: string): Deny {
  const reason = { policy_id: 'dlp', policy: 'dlp', rule: 'deny', message } as const;
  return { kind: 'deny', cause: 'policy', message: `dlp: ${message}`, reasons: [reason] };
}
