import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signRotation } from '../evidence/evidence-keys.ts';
import type { RegistrationAnswer } from './channels.ts';
import {
  createHistoryFollower,
  followHistory,
  followKeys,
  followRegistration,
  rememberRevocations,
} from './follow-keys.ts';

type Purpose = 'bundle' | 'feed';
const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();

function aKey(purpose: Purpose, kid: string) {
  const pair =
    purpose === 'bundle'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('ed25519');
  const alg = purpose === 'bundle' ? 'ES256' : 'EdDSA';
  const exported = pair.publicKey.export({ format: 'jwk' });
  const jwk = { ...exported, kty: String(exported.kty), kid, alg };
  return { kid, key: pair.privateKey, jwk };
}
type Key = ReturnType<typeof aKey>;

const rotation = (purpose: Purpose, before: Key, next: Key, hour: number) =>
  signRotation(
    {
      ...{ type: 'key_rotation', v: 1, purpose, old_kid: before.kid },
      new_key: { kid: next.kid, jwk: next.jwk },
      valid_from: at(hour),
      time: at(hour),
    },
    before,
    next,
  );
const entry = (purpose: Purpose, { kid, jwk }: Key, revokedAt: string | null = null) => ({
  ...{ kid, purpose, jwk, valid_from: at(0), valid_to: null, revoked_at: revokedAt },
});
const kids = (keys: readonly { kid: string }[]) => keys.map(({ kid }) => kid).sort();

describe.each(['bundle', 'feed'] as const)('keys of the %s', (purpose) => {
  const [a, b, c] = ['a', 'b', 'c'].map((kid) => aKey(purpose, kid)) as [Key, Key, Key];
  const steps = [rotation(purpose, b, c, 2), rotation(purpose, a, b, 1)];

  it('are followed over rotations that were missed, in any order, and earlier ones are kept', () => {
    const history = { keys: [], rotations: steps };
    const followed = followKeys(purpose, [a.jwk], history, [c.jwk]);
    expect(kids(followed.keys)).toEqual(['a', 'b', 'c']);
    expect(followed.keys).toContainEqual(c.jwk);
    expect(followed.untrusted).toEqual([]);
  });

  it('are not taken where no statement leads to them', () => {
    const history = { keys: [entry(purpose, c)], rotations: steps.slice(0, 1) };
    const followed = followKeys(purpose, [a.jwk], history, [a.jwk, c.jwk]);
    expect(followed).toEqual({ keys: [a.jwk], untrusted: ['c'] });
  });

  it.each([
    ['the key before', 0],
    ['the new key', 1],
  ] as const)('are not taken where %s did not sign', (_, index) => {
    const forged = structuredClone(steps[1]) as (typeof steps)[0];
    const stranger = aKey(purpose, 'x');
    const other = rotation(purpose, stranger, aKey(purpose, 'y'), 1);
    forged.signatures[index].signature = other.signatures[index].signature;
    const followed = followKeys(purpose, [a.jwk], { keys: [], rotations: [forged] }, [b.jwk]);
    expect(followed).toEqual({ keys: [a.jwk], untrusted: ['b'] });
  });

  it('are not taken by a statement about keys of another purpose', () => {
    const other = purpose === 'feed' ? 'bundle' : 'feed';
    const rotations = [rotation(other, a, b, 1)];
    expect(followKeys(purpose, [a.jwk], { keys: [], rotations }, []).keys).toEqual([a.jwk]);
  });

  it('are not replaced by another key of the same id', () => {
    const other = aKey(purpose, 'a');
    const history = { keys: [entry(purpose, other)], rotations: [] };
    expect(followKeys(purpose, [a.jwk], history, [other.jwk]).keys).toEqual([a.jwk]);
  });

  it('are dropped where they were revoked, and name the one after them first', () => {
    const history = { keys: [entry(purpose, b, at(2)), entry(purpose, c)], rotations: steps };
    const followed = followKeys(purpose, [a.jwk], history, [a.jwk, c.jwk]);
    expect(kids(followed.keys)).toEqual(['a', 'c']);
    expect(followed.untrusted).toEqual([]);
  });
});

describe('an answer to a registration', () => {
  const [b1, b2] = [aKey('bundle', 'b1'), aKey('bundle', 'b2')];
  const [f1, f2] = [aKey('feed', 'f1'), aKey('feed', 'f2')];
  const history = {
    keys: [entry('bundle', b1), entry('bundle', b2), entry('feed', f1), entry('feed', f2)],
    rotations: [rotation('bundle', b1, b2, 1), rotation('feed', f1, f2, 1)],
  };
  const answer = (
    bundle: Key[],
    feed: Key[],
    key_history?: RegistrationAnswer['key_history'],
  ): RegistrationAnswer => ({
    tenant_id: '01890000-0000-7000-8000-000000000001',
    deployment_id: '01890000-0000-7000-8000-000000000002',
    bundle_keys: bundle.map(({ jwk }) => jwk),
    feed_keys: feed.map(({ jwk }) => jwk),
    ...(key_history && { key_history }),
  });

  it('is believed at first, and where no statements were ever announced', () => {
    const first = answer([b2], [f2], history);
    expect(followRegistration(undefined, first)).toEqual({ answer: first, untrusted: [] });
    const newer = answer([b2], [f2]);
    expect(followRegistration(answer([b1], [f1]), newer)).toEqual({ answer: newer, untrusted: [] });
  });

  it('brings new keys of both kinds by the statements', () => {
    const followed = followRegistration(answer([b1], [f1]), answer([b2], [f2], history));
    expect(kids(followed.answer.bundle_keys)).toEqual(['b1', 'b2']);
    expect(kids(followed.answer.feed_keys)).toEqual(['f1', 'f2']);
    expect(followed.untrusted).toEqual([]);
  });

  it('brings no key by leaving the statements out', () => {
    const kept = answer([b1], [f1], { keys: [entry('feed', f1)], rotations: [] });
    const followed = followRegistration(kept, answer([b2], [f2]));
    expect(followed.untrusted).toEqual(['b2', 'f2']);
    expect(followed.answer).toEqual(kept);
  });

  it('brings no key after the last known one was revoked', () => {
    const kept = answer([b1], [], { keys: [entry('feed', f1, at(1))], rotations: [] });
    const told = { keys: history.keys, rotations: [] };
    const followed = followRegistration(kept, answer([b1], [f2], told));
    expect(followed.answer.feed_keys).toEqual([]);
    expect(followed.untrusted).toEqual(['f2']);
  });
});

describe('a revocation that was announced once', () => {
  const [a, b] = [aKey('feed', 'a'), aKey('feed', 'b')];
  const rotations = [rotation('feed', a, b, 1)];
  const revoked = { keys: [entry('feed', a, at(1)), entry('feed', b)], rotations };
  const lacking = [
    ['calls the key good', { keys: [entry('feed', a), entry('feed', b)], rotations }],
    ['does not name the key', { keys: [], rotations }],
  ] as const;

  it.each(lacking)('by the feed holds although a later history %s', (_, later) => {
    const follow = createHistoryFollower();
    const registered = { bundle_keys: [], feed_keys: [a.jwk] };
    const told = { keys: [...later.keys], rotations };
    for (const history of [revoked, told, undefined, told]) {
      expect(kids(follow(registered, history).feed)).toEqual(['b']);
    }
    expect(kids(createHistoryFollower()(registered, told).feed)).toEqual(['a', 'b']);
  });

  it.each(lacking)('by a registration holds, and is kept, although a later one %s', (_, later) => {
    const base = {
      tenant_id: '01890000-0000-7000-8000-000000000001',
      deployment_id: '01890000-0000-7000-8000-000000000002',
      bundle_keys: [],
    };
    let kept: RegistrationAnswer = { ...base, feed_keys: [a.jwk] };
    const told = { keys: [...later.keys], rotations };
    for (const key_history of [revoked, told, told]) {
      kept = followRegistration(kept, { ...base, feed_keys: [a.jwk, b.jwk], key_history }).answer;
      expect(kids(kept.feed_keys)).toEqual(['b']);
    }
    expect(kids(followHistory(kept, told).feed)).toEqual(['b']);
  });

  it.each(
    lacking,
  )('by the feed is kept with the registration, although a later one %s', (_, later) => {
    const good = entry('bundle', aKey('bundle', 'c'));
    const registered = {
      ...{ bundle_keys: [], feed_keys: [a.jwk] },
      key_history: { keys: [good], rotations: [] },
    };
    const kept = rememberRevocations(registered, revoked);
    expect(kept.key_history.keys).toEqual([revoked.keys[0], good]);
    const told = { keys: [...later.keys], rotations };
    for (const history of [undefined, told, revoked]) {
      expect(rememberRevocations(kept, history)).toBe(kept);
    }
    // As after a restart, with the feed's facts or without.
    expect(kids(createHistoryFollower()(kept, told).feed)).toEqual(['b']);
    expect(kids(createHistoryFollower()(kept, undefined).feed)).toEqual(['b']);
  });

  it('is bounded, and never at the cost of a valid key', () => {
    const many = Array.from({ length: 1_500 }, (_, n) =>
      entry('feed', { ...a, kid: `k${n}` }, at(1)),
    );
    const follow = createHistoryFollower();
    const registered = { bundle_keys: [], feed_keys: [a.jwk] };
    follow(registered, { keys: many, rotations });
    expect(kids(follow(registered, { keys: [], rotations }).feed)).toEqual(['a', 'b']);
  });

  const others = (from: number) =>
    Array.from({ length: 1_000 }, (_, n) => entry('feed', { ...a, kid: `k${from + n}` }, at(1)));

  it('holds after thousands of other keys were called revoked, on disk and in memory', () => {
    let kept: Parameters<typeof rememberRevocations>[0] = { bundle_keys: [], feed_keys: [a.jwk] };
    const follow = createHistoryFollower();
    const told = [revoked, ...[0, 1_000, 2_000].map((n) => ({ keys: others(n), rotations }))];
    for (const history of told) {
      expect(kids(follow({ bundle_keys: [], feed_keys: [a.jwk] }, history).feed)).toEqual(['b']);
      kept = rememberRevocations(kept, history);
      expect(kept.key_history?.keys.length).toBeLessThanOrEqual(1_000);
      expect(kids(kept.feed_keys)).toEqual(['b']);
      const statement = { keys: [entry('feed', a)], rotations };
      expect(kids(followHistory(kept, statement).feed)).toEqual(['b']);
    }
  });

  it('of a key that is accepted is kept although a thousand others are known', () => {
    const registered = {
      ...{ bundle_keys: [], feed_keys: [a.jwk] },
      key_history: { keys: others(0), rotations },
    };
    const answer = {
      tenant_id: '01890000-0000-7000-8000-000000000001',
      deployment_id: '01890000-0000-7000-8000-000000000002',
      ...{ bundle_keys: [], feed_keys: [a.jwk, b.jwk], key_history: revoked },
    };
    const registeredAgain = followRegistration({ ...answer, ...registered }, answer).answer;
    for (const kept of [rememberRevocations(registered, revoked), registeredAgain]) {
      expect(kids(kept.feed_keys)).toEqual(['b']);
      expect(kept.key_history?.keys).toHaveLength(1_000);
      expect(kept.key_history?.keys[0]).toEqual(revoked.keys[0]);
    }
  });
});
