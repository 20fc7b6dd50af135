/**
 * Applies the tenant's data protection to the members of a decision that repeat content of a call:
 * the target comes from the arguments, and a policy may quote arguments in its reason. Proven by
 * protected-members.test.ts.
 */
import type { BundleSettings } from '@governance/shared/bundle-format';
import { DELEGATOR_LACKS } from '@governance/shared/delegation-scope';
import { isObject } from '../../upstream/message.ts';
import type { ProtectedMembers, SaidMembers } from '../audit.ts';
import type { Ask } from '../calls.ts';
import { coverMatched, type Marks, NO_MARKS, REDACTED } from '../cover-texts.ts';
import type { IdentifierKeys } from './identifier-keys.ts';
import { protectionOf } from './protection.ts';

const NAMES = [
  'target',
  'policy_reason',
  'requester_id',
] as const satisfies readonly (keyof SaidMembers)[];

export type ProtectMembers = (
  settings: BundleSettings | null,
  ask: Pick<Ask, 'args' | 'retry'>,
  members: SaidMembers,
  otherRequesters?: readonly string[],
  matched?: Marks | null,
) => ProtectedMembers;

export function createProtectMembers(identifiers: IdentifierKeys): ProtectMembers {
  /**
   * @param settings of the bundle in force; null where there is none
   * @param ask texts that are removed from its arguments are removed from the members too
   * @param otherRequesters further requesters that the members may name
   * @param matched texts that DLP found, which no record quotes, whatever the tenant set
   */
  return (settings, { args, retry }, whole, otherRequesters = [], matched = NO_MARKS) => {
    // The control plane compares this sentence, which quotes nothing: no argument may change it.
    const fixed = whole.policy_reason === DELEGATOR_LACKS ? DELEGATOR_LACKS : null;
    const given = fixed === null ? whole : { ...whole, policy_reason: null };
    const protect = settings && protectionOf(settings).protect;
    if (!protect && matched === NO_MARKS) return { ...whole, protected_fields: [] };
    const members = withoutMatched(given, matched);
    const told = (kept: SaidMembers): ProtectedMembers => ({
      ...kept,
      policy_reason: fixed ?? kept.policy_reason,
      protected_fields: NAMES.filter((name) => kept[name] !== given[name]),
    });
    if (!protect) return told(members);
    const responses = retry?.inputResponses;
    const said = { arguments: args, ...(responses && { responses }), ...members };
    const left = protect(said, {
      said: 'members',
      // The agent's id stays readable: the record and the chain need it.
      agent: null,
      requesterId: members.requester_id,
      otherRequesters,
      hash: (identifier) => identifiers.hashOf(settings.tenant_id)(identifier),
    });
    const kept = { ...members };
    for (const name of NAMES) {
      if (members[name] === null) continue;
      const value = isObject(left?.value) ? left.value[name] : undefined;
      kept[name] = typeof value === 'string' ? value : REDACTED;
    }
    return told(kept);
  };
}

/** The requester is said beside the call: it may be the person whose address the call holds. */
function withoutMatched(members: SaidMembers, matched: Marks | null): SaidMembers {
  const { target, policy_reason } = members;
  return {
    ...members,
    target: coverMatched(target, matched),
    policy_reason: policy_reason && coverMatched(policy_reason, matched),
  };
}
