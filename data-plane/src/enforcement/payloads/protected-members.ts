/**
 * What the tenant's data protection leaves of those members of a decision that repeat what a call
 * says: a target is taken from the arguments, and a policy may quote them in its reason. Proven by
 * protected-members.test.ts.
 */
import type { BundleSettings } from '@governance/shared/bundle-format';
import { isObject } from '../../upstream/message.ts';
import type { ProtectedMembers, SaidMembers } from '../audit.ts';
import type { Ask } from '../calls.ts';
import { protectionOf } from './protection.ts';
import { REDACTED } from './redact-fields.ts';

const NAMES = [
  'target',
  'policy_reason',
  'requester_id',
] as const satisfies readonly (keyof SaidMembers)[];

/**
 * @param settings of the bundle in force; null where there is none
 * @param ask a text that is taken out of it is taken out of the members too
 */
export function protectMembers(
  settings: BundleSettings | null,
  { args, retry }: Pick<Ask, 'args' | 'retry'>,
  members: SaidMembers,
): ProtectedMembers {
  const takeOut = settings && protectionOf(settings).takeOut;
  if (!takeOut) return { ...members, protected_fields: [] };
  const responses = retry?.inputResponses;
  const left = takeOut({ arguments: args, ...(responses && { responses }), ...members });
  const kept = { ...members };
  for (const name of NAMES) {
    if (members[name] === null) continue;
    const value = isObject(left?.value) ? left.value[name] : undefined;
    kept[name] = typeof value === 'string' ? value : REDACTED;
  }
  const changed = NAMES.filter((name) => kept[name] !== members[name]);
  return { ...kept, protected_fields: changed };
}
