/**
 * Applies the tenant's data protection to the members of a decision that repeat content of a call:
 * the target comes from the arguments, and a policy may quote arguments in its reason. Proven by
 * protected-members.test.ts.
 */
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { DELEGATOR_LACKS } from '@governance/shared/tokens/delegation-scope';
import { isObject } from '../../upstream/message.ts';
import type { Ask, Caller } from '../call/calls.ts';
import {
  CONTENT_MEMBERS,
  type ContentMembers,
  type ProtectedMembers,
} from '../call/content-members.ts';
import { coverMatched, type Marks, NO_MARKS, REDACTED } from '../call/cover-texts.ts';
import type { Identified, LargeValues, Protection } from '../record/kept-payload.ts';
import type { IdentifierKeys } from './identifier-keys.ts';
import { protectionOf } from './protection.ts';

/** A call's members on their way through the tenant's data protection. */
interface Begun {
  /** Null where the tenant lets members be as they are. */
  readonly protection: Protection | null;
  readonly members: ContentMembers;
  /** The members with all that the call asks for. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly identified: Identified;
  /** @param left what protection left; undefined where something could not be removed */
  finish(left: unknown): ProtectedMembers;
}

/** The members of a record that repeat content of a call, and what decides how they are protected. */
export interface MembersToProtect {
  /** Of the bundle in force; null where there is none. */
  readonly settings: BundleSettings | null;
  /** What is removed from its arguments is removed from the members too. */
  readonly ask: Pick<Ask, 'args' | 'retry'>;
  readonly members: ContentMembers;
  /** Further requesters that the members may name. */
  readonly otherRequesters?: readonly string[];
  /**
   * Texts that DLP found, which no record quotes, whatever the tenant set; null where there are too
   * many to tell apart.
   */
  readonly matched?: Marks | null;
}

export function createProtectMembers(
  identifiers: Pick<IdentifierKeys, 'hashOf' | 'keyOf'>,
  large: LargeValues,
) {
  function begin({
    settings,
    ask: { args, retry },
    members: whole,
    otherRequesters = [],
    matched = NO_MARKS,
  }: MembersToProtect): Begun | null {
    // The control plane compares this sentence, which quotes nothing: no argument may change it.
    const fixed = whole.policy_reason === DELEGATOR_LACKS ? DELEGATOR_LACKS : null;
    const given = fixed === null ? whole : { ...whole, policy_reason: null };
    const protection = settings && protectionOf(settings).protection;
    if (!protection && matched === NO_MARKS) return null;
    const members = withoutMatched(given, matched);
    const responses = retry?.inputResponses;
    return {
      protection,
      members,
      content: { arguments: args, ...(responses && { responses }), ...members },
      identified: {
        part: 'members',
        // The agent's id stays readable: the record and the chain need it.
        agent: null,
        requesterId: members.requester_id,
        otherRequesters,
        hash: (identifier) => identifiers.hashOf(settings?.tenant_id ?? '')(identifier),
      },
      finish(left) {
        const kept = { ...members };
        for (const name of CONTENT_MEMBERS) {
          if (members[name] === null) continue;
          const value = isObject(left) ? left[name] : undefined;
          kept[name] = typeof value === 'string' ? value : REDACTED;
        }
        return {
          ...kept,
          policy_reason: fixed ?? kept.policy_reason,
          protected_fields: CONTENT_MEMBERS.filter((name) => kept[name] !== given[name]),
        };
      },
    };
  }

  /** On this thread, whatever the size: for members of no call, or of a small one. */
  function atOnce(asked: MembersToProtect): ProtectedMembers {
    const begun = begin(asked);
    return begun ? finishAtOnce(begun) : { ...asked.members, protected_fields: [] };
  }

  /** A promise only where the call is large. It never rejects. */
  function ofCall(
    caller: Caller,
    asked: MembersToProtect,
  ): ProtectedMembers | Promise<ProtectedMembers> {
    const begun = begin(asked);
    if (!begun) return { ...asked.members, protected_fields: [] };
    const { protection, content, identified } = begun;
    if (protection === null || !large.isLarge(content, protection)) return finishAtOnce(begun);
    const protecting = large.protect({
      caller,
      protection,
      identified: withoutHash(identified),
      json: () => JSON.stringify(content),
      key: () => identifiers.keyOf(caller.tenantId),
    });
    return protecting.then((text) =>
      text === undefined ? finishAlone(begun, protection) : begun.finish(JSON.parse(text)),
    );
  }

  /**
   * Without an answer from the thread. What DLP blocks or warns of in the call was covered before;
   * what is found in the members themselves is removed, so that an agent cannot hide its targets
   * behind hostile texts. The texts of fields are unknown.
   */
  function finishAlone(begun: Begun, protection: Protection): ProtectedMembers {
    const { members, identified } = begun;
    const isKnown = protection.rules.fields.length === 0 && !large.isLarge(members, protection);
    return begun.finish(isKnown ? protection.protect(members, identified)?.value : undefined);
  }

  return { atOnce, ofCall };
}

function finishAtOnce({
  protection,
  members,
  content,
  identified,
  finish,
}: Begun): ProtectedMembers {
  return finish(protection ? protection.protect(content, identified)?.value : members);
}

/** A function goes to no thread. */
function withoutHash({ hash: _, ...identified }: Identified): Omit<Identified, 'hash'> {
  return identified;
}

/** The requester stands beside the call: it may be the person whose address the call holds. */
function withoutMatched(members: ContentMembers, matched: Marks | null): ContentMembers {
  const { target, policy_reason } = members;
  return {
    ...members,
    target: coverMatched(target, matched),
    policy_reason: policy_reason && coverMatched(policy_reason, matched),
  };
}
