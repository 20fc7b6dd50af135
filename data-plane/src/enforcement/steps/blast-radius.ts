import { formatReasons, type PolicyReason } from '@governance/policies/contract';
import { BLAST_RADIUS } from '@governance/shared/channel/exceptions';
import { DEFAULT_BLAST_RADIUS } from '@governance/shared/detect/reach/blast-radius-settings';
import { createReachFinder, type FindReach } from '@governance/shared/detect/reach/reach';
import type { ReachFinding } from '@governance/shared/detect/reach/reach-finding';
import { wasAsked } from '../../holds/asked-reasons.ts';
import { TOOL_CALL } from '../call/call-kinds.ts';
import type { ClassifiedCall, Continue, Deny } from '../call/calls.ts';
import { extend, proceed } from '../call/pipeline-builder.ts';
import { type ExceptionDeps, exceptionsFor } from '../permission/exceptions.ts';
import { perSettings } from '../permission/per-settings.ts';

export interface BlastRadiusDeps extends ExceptionDeps {
  /** Called with the findings of a call that neither an approval nor an exception covers. */
  onBlastRadius(call: ClassifiedCall, findings: readonly ReachFinding[]): void;
}

const finderOf = perSettings((settings) =>
  createReachFinder(settings.blast_radius ?? DEFAULT_BLAST_RADIUS),
);

/**
 * Step 4d: limits the call's blast radius. A call that nobody should approve is denied at once.
 * Reasons for a person to decide are carried to the policy step, where a denial wins over them.
 */
export function limitBlastRadius<C extends ClassifiedCall>(
  call: C,
  deps: BlastRadiusDeps,
): Continue<C> | Deny {
  // Without rules, the policy step denies.
  if (call.rules === null) return proceed(call);
  const findings = findReach(call, finderOf(call.rules.settings));
  if (findings.length === 0) return proceed(call);
  const denials = findings.filter(({ verdict }) => verdict === 'deny');
  const question = { reasons: findings.map(toReason), revision: call.rules.revision };
  const isCovered =
    denials.length === 0 &&
    ((call.grant && wasAsked(call.grant.asked, question)) ||
      exceptionsFor(call, deps)('escalation', BLAST_RADIUS) !== undefined);
  const reported = isCovered ? call.reported : report(call, findings, deps);
  if (denials.length === 0) return proceed(extend(call, { carried: question.reasons, reported }));
  const reasons = denials.map(toReason);
  return { kind: 'deny', cause: 'policy', message: formatReasons(reasons), reasons };
}

function findReach(
  { ask, action, operation = action, isDryRun }: ClassifiedCall,
  find: FindReach,
): readonly ReachFinding[] {
  const { method, name, args, retry } = ask;
  if (method === 'resources/read' || method === 'resources/subscribe') {
    return find({ name: '', action: 'read', args });
  }
  if (method !== TOOL_CALL) return [];
  const found = find({ name, action: operation, args, isDryRun });
  if (retry?.inputResponses === undefined) return found;
  return [...found, ...find({ name, action, args: retry.inputResponses })];
}

/** @returns all kinds that were reported for the call, now and when it was judged before */
function report(
  call: ClassifiedCall,
  findings: readonly ReachFinding[],
  { onBlastRadius }: BlastRadiusDeps,
): ReadonlySet<string> {
  const reported = new Set(call.reported);
  const news = findings.filter((finding) => !reported.has(kindOf(finding)));
  if (news.length > 0) onBlastRadius(call, news);
  return new Set([...reported, ...news.map(kindOf)]);
}

const kindOf = ({ rule, verdict }: ReachFinding): string => `reach ${rule} ${verdict}`;

function toReason({ verdict, message }: ReachFinding): PolicyReason {
  return { policy_id: BLAST_RADIUS, policy: 'Blast radius', rule: verdict, message };
}
