/**
 * Applies the tenant's data protection to the members of a decision that repeat content of a call:
 * the target comes from the arguments, and a policy may quote arguments in its reason. Proven by
 * protected-members.test.ts.
 */
import type { BundleSettings } from '@governance/shared/bundle-format';
import { isObject } from '../../upstream/message.ts';
import type { ProtectedMembers, SaidMembers } from '../audit.ts';
import type { Ask } from '../calls.ts';
import type { IdentifierKeys } from './identifier-keys.ts';
import { protectionOf } from './protection.ts';
import { REDACTED } from './redact-fields.ts';

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
) => ProtectedMembers;

export function createProtectMembers(identifiers: IdentifierKeys): ProtectMembers {
  /**
   * @param settings of the bundle in force; null where there is none
   * @param ask texts that are removed from its arguments are removed from the members too
   * @param otherRequesters further requesters that the members may name
   */
  return (settings, { args, retry }, members, otherRequesters = []) => {
    const protect = settings && protectionOf(settings).protect;
    if (!protect) return { ...members, protected_fields: [] };
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
    const changed = NAMES.filter((name) => kept[name] !== members[name]);
    return { ...kept, protected_fields: changed };
  };
}
