import type { Again, AgentCall, ClassifiedCall } from '../call/calls.ts';
import type { CallNow } from '../permission/eligibility.ts';

/**
 * Judges a call again from `classify`, without what that step and later ones established: the rules
 * or the workflow that they used have changed. Its pieces are not joined to those of earlier calls
 * again, since they would continue themselves, and no finding is reported twice. Proven by
 * changed-rules.test.ts.
 */
export function judgeAgain(call: ClassifiedCall, now: CallNow): Again {
  const { id, caller, ask, grant, ineligibility, requester, fragments, reported } = call;
  const again: AgentCall = {
    id,
    caller,
    ask,
    grant,
    ...(ineligibility && { ineligibility }),
    ...(requester && { requester }),
    ...(fragments && { fragments }),
    ...(reported && { reported }),
    ...now,
  };
  return { kind: 'again', call: again, from: 'classify' };
}
