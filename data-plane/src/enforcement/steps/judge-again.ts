import type { Again, AgentCall, ClassifiedCall } from '../calls.ts';
import type { CallNow } from '../eligibility.ts';

/**
 * Judges a call again from `classify`, without what that step and later ones established: the rules
 * or the workflow that they went by have changed. What it sends in pieces is joined once, since it would
 * continue itself, and what was told of it is not told again. Proven by changed-rules.test.ts.
 */
export function judgeAgain(call: ClassifiedCall, now: CallNow): Again {
  const { id, caller, ask, grant, ineligibility, requester, fragments, told } = call;
  const again: AgentCall = {
    id,
    caller,
    ask,
    grant,
    ...(ineligibility && { ineligibility }),
    ...(requester && { requester }),
    ...(fragments && { fragments }),
    ...(told && { told }),
    ...now,
  };
  return { kind: 'again', call: again, from: 'classify' };
}
