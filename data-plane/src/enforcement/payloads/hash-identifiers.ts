/**
 * Replaces identifiers with keyed hashes: the agent and the requester in the members that name
 * them, e-mail addresses anywhere, and requesters and the agent's id in any text. Proven by
 * hash-identifiers.test.ts.
 */
import type { IdentifierHash } from '@governance/shared/keys/identifier-hash';
import { isObject } from '../../upstream/message.ts';
import { MIN_COVERED, REDACTED } from '../call/cover-texts.ts';
import type { Identified } from '../record/kept-payload.ts';
import { findAddresses } from './e-mail-addresses.ts';
import { MAX_DEPTH } from './redact-fields.ts';

/**
 * Different identifiers hashed in one value. Further ones become `[REDACTED]`, since each hash
 * takes time.
 */
const MAX_HASHED = 2_000;

/** Caches the hash of each identifier. */
function remembered(hash: IdentifierHash): IdentifierHash {
  const known = new Map<string, string>();
  return (identifier) => {
    let hashed = known.get(identifier);
    if (hashed === undefined) {
      if (known.size >= MAX_HASHED) return REDACTED;
      hashed = hash(identifier);
      known.set(identifier, hashed);
    }
    return hashed;
  };
}

/** @returns the value itself where nothing in it is an identifier */
export function hashIdentifiers(value: unknown, identified: Identified): unknown {
  const { agent, requesterId, otherRequesters, part } = identified;
  const hash = remembered(identified.hash);
  const names = [requesterId, ...otherRequesters, agent?.id].filter(
    (name) => (name?.length ?? 0) >= MIN_COVERED,
  );
  const covered = [...new Set(names as string[])].sort((a, b) => b.length - a.length);
  // Hashed first, so that the call's requesters and agent are within MAX_HASHED.
  for (const one of [requesterId, ...otherRequesters, agent?.id, agent?.name, agent?.owner])
    if (one) hash(one);
  const hashed = hashWithin(value, covered, hash, 0);
  if (!isObject(hashed)) return hashed;
  switch (part) {
    case 'members':
      return replaced(hashed, { requester_id: requesterId }, hash);
    case 'input': {
      const requester = isObject(hashed.requester) ? hashed.requester : {};
      const named = isObject(hashed.agent) ? hashed.agent : {};
      const { id, name, owner } = agent ?? {};
      return {
        ...hashed,
        ...('agent' in hashed && { agent: replaced(named, { id, name, owner }, hash) }),
        ...('requester' in hashed && {
          requester: replaced(requester, { id: requesterId }, hash),
        }),
      };
    }
    case 'result':
      return hashed;
  }
}

/** Hashes the members that name identifiers. Members that were removed earlier stay removed. */
function replaced(
  members: Record<string, unknown>,
  identifiers: Record<string, string | null | undefined>,
  hash: IdentifierHash,
): Record<string, unknown> {
  const hashed = Object.entries(identifiers).flatMap(([name, identifier]) =>
    typeof members[name] === 'string' && typeof identifier === 'string'
      ? [[name, hash(identifier)]]
      : [],
  );
  return { ...members, ...Object.fromEntries(hashed) };
}

function hashWithin(
  value: unknown,
  covered: readonly string[],
  hash: IdentifierHash,
  depth: number,
): unknown {
  if (typeof value === 'string') return hashText(value, covered, hash);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return null;
  if (Array.isArray(value)) {
    const items = value.map((item) => hashWithin(item, covered, hash, depth + 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let isChanged = false;
  const members = Object.entries(value).map(([name, member]) => {
    // In names of members only addresses are hashed: a requester's name may be an ordinary word.
    const key = hashText(name, [], hash);
    const inner = hashWithin(member, covered, hash, depth + 1);
    if (key !== name || inner !== member) isChanged = true;
    return [key, inner];
  });
  return isChanged ? Object.fromEntries(members) : value;
}

function hashText(text: string, covered: readonly string[], hash: IdentifierHash): string {
  let left = '';
  let from = 0;
  for (const { start, end, address } of findAddresses(text)) {
    left += cover(text.slice(from, start), covered, hash) + hash(address);
    from = end;
  }
  return from === 0 ? cover(text, covered, hash) : left + cover(text.slice(from), covered, hash);
}

/** Replaces the names in a text by hashes. Inserted hashes are not searched. */
function cover(text: string, [first, ...others]: readonly string[], hash: IdentifierHash): string {
  if (first === undefined) return text;
  if (!text.includes(first)) return cover(text, others, hash);
  return text
    .split(first)
    .map((rest) => cover(rest, others, hash))
    .join(hash(first));
}
