/**
 * Which bundle and feed keys a data plane may accept: a new one only if a known key vouches for it,
 * however many rotations it missed, so that an impostor of the control plane cannot introduce keys.
 * Proven by follow-keys.test.ts.
 */

import type { KeyEntry } from '../evidence/evidence-keys.ts';
import { type KeyHistory, MAX_HISTORY_KEYS } from '../evidence/key-history.ts';
import { followRotations, keyPlace, type LivingKey } from '../evidence/key-rotations.ts';
import type { RegistrationAnswer } from './channels.ts';

type TrustedKey = RegistrationAnswer['feed_keys'][number];
/** What the keys sign. */
type Followed = 'bundle' | 'feed';

/** The accepted keys, and the ids of those that no statement leads to. */
export interface FollowedKeys {
  keys: TrustedKey[];
  untrusted: string[];
}

/**
 * Checks keys against the statements.
 *
 * @param known what is trusted already; a key of the same id is not replaced
 * @param history statements in any order; keys that it calls revoked are dropped
 * @param answered what somebody says is good: reported where nothing leads to it
 */
export function followKeys(
  purpose: Followed,
  known: readonly TrustedKey[],
  history: KeyHistory,
  answered: readonly TrustedKey[],
): FollowedKeys {
  const { living, revoked } = findLiving(purpose, known, history);
  const good = [...living.values()].filter(({ kid }) => !revoked.has(kid));
  return {
    keys: good.map(({ kid, jwk }) => toTrustedKey(kid, jwk)),
    untrusted: answered
      .map(({ kid }) => kid)
      .filter((kid) => !living.has(keyPlace({ purpose, kid })) && !revoked.has(kid)),
  };
}

/** The known keys and those that follow, by place, and the ids that the history calls revoked. */
function findLiving(purpose: Followed, known: readonly TrustedKey[], history: KeyHistory) {
  const living = new Map<string, LivingKey & { kid: string }>();
  const alive = { validTo: null, revokedAt: null };
  for (const jwk of known) {
    const { kid } = jwk;
    living.set(keyPlace({ purpose, kid }), { kid, jwk, ...alive });
  }
  // Before revocations: a key's last statement names its successor, even if the key is revoked now.
  const rotations = history.rotations.filter(({ statement }) => statement.purpose === purpose);
  followRotations(living, rotations, ({ kid, jwk }) => ({ kid, jwk, ...alive }));
  const revoked = new Set(
    history.keys.filter((key) => key.purpose === purpose && isRevoked(key)).map(({ kid }) => kid),
  );
  return { living, revoked };
}

/**
 * The answer to a registration, with only the keys that may be accepted. The first answer is
 * trusted, and so is that of a control plane that never sent a key history.
 *
 * @param kept the answer that is kept from before
 */
export function followRegistration(
  kept: RegistrationAnswer | undefined,
  answer: RegistrationAnswer,
): { answer: RegistrationAnswer; untrusted: string[] } {
  // Once sent, a history cannot be omitted again: that would admit any key.
  const history = joinHistories(kept?.key_history, answer.key_history);
  if (!kept || !history) return { answer, untrusted: [] };
  const follow = (purpose: Followed): FollowedKeys => {
    const member = `${purpose}_keys` as const;
    const isFirst = kept[member].length === 0 && !hasKeys(kept.key_history, purpose);
    if (isFirst) return { keys: answer[member], untrusted: [] };
    return followKeys(purpose, kept[member], history, answer[member]);
  };
  const [bundle, feed] = [follow('bundle'), follow('feed')];
  return {
    answer: {
      ...answer,
      bundle_keys: bundle.keys,
      feed_keys: feed.keys,
      key_history: cutHistory(history, kept),
    },
    untrusted: [...bundle.untrusted, ...feed.untrusted],
  };
}

type Registered = Pick<RegistrationAnswer, 'bundle_keys' | 'feed_keys' | 'key_history'>;

/**
 * The keys of a registration with those that the feed announced since.
 *
 * @param announced undefined where the feed announced none
 */
export function followHistory(
  registered: Registered,
  announced: KeyHistory | undefined,
): { bundle: TrustedKey[]; feed: TrustedKey[] } {
  const { bundle_keys, feed_keys, key_history } = registered;
  const history = joinHistories(key_history, announced);
  if (!history) return { bundle: bundle_keys, feed: feed_keys };
  return {
    bundle: followKeys('bundle', bundle_keys, history, []).keys,
    feed: followKeys('feed', feed_keys, history, []).keys,
  };
}

/**
 * A registration with what the feed has announced since, to be kept on disk: the keys that are
 * accepted now, and the revocations. A later history may lack them, and a restart forgets what was
 * only in memory. A revoked key is not kept, so that it stays out whatever else is announced.
 *
 * @param announced undefined where the feed announced none
 * @returns the same object where nothing of it is new
 */
export function rememberRevocations<T extends Registered>(
  registered: T,
  announced: KeyHistory | undefined,
): T {
  const known = registered.key_history ?? { keys: [], rotations: [] };
  const history = joinHistories(registered.key_history, announced);
  if (!history) return registered;
  const { bundle, feed } = followHistory(registered, announced);
  const revoked = cutHistory(history, registered).keys.filter(isRevoked);
  const before = new Set(known.keys.filter(isRevoked).map(placeOf));
  const isKnown =
    revoked.every((key) => before.has(placeOf(key))) &&
    haveSameIds(bundle, registered.bundle_keys) &&
    haveSameIds(feed, registered.feed_keys);
  if (isKnown) return registered;
  const places = new Set(revoked.map(placeOf));
  const good = known.keys.filter((key) => !isRevoked(key) && !places.has(placeOf(key)));
  const keys = [...revoked, ...good].slice(0, MAX_HISTORY_KEYS);
  return {
    ...registered,
    bundle_keys: bundle,
    feed_keys: feed,
    ...((registered.key_history || keys.length > 0) && {
      key_history: { keys, rotations: known.rotations },
    }),
  };
}

/** @returns followHistory that remembers every revocation it has received */
export function createHistoryFollower(): typeof followHistory {
  let remembered: KeyHistory | undefined;
  return (registered, announced) => {
    const history = joinHistories(remembered, announced);
    remembered = history && cutHistory(history, registered);
    return followHistory(registered, history);
  };
}

type HistoryKey = KeyHistory['keys'][number];
const placeOf = ({ purpose, kid }: HistoryKey): string => keyPlace({ purpose, kid });
const isRevoked = (key: HistoryKey): boolean => key.revoked_at !== null;
const haveSameIds = (some: readonly TrustedKey[], others: readonly TrustedKey[]): boolean =>
  some.length === others.length && some.every(({ kid }, i) => kid === others[i]?.kid);

/**
 * What was announced, with every revocation that is known: none ends with a history that lacks it, for
 * the control plane's row may be damaged. Known revocations go first. What is kept of it is cut.
 */
function joinHistories<T extends KeyHistory | undefined>(
  known: KeyHistory | undefined,
  announced: T,
): KeyHistory | T {
  if (!known || !announced) return announced ?? known ?? announced;
  const kept = known.keys.filter(isRevoked);
  if (kept.length === 0) return announced;
  const places = new Set(kept.map(placeOf));
  const others = announced.keys.filter((key) => !places.has(placeOf(key)));
  return { ...announced, keys: [...kept, ...others] };
}

/**
 * A history that can be kept. The first to stay are revocations of keys that would be accepted
 * without them, then those that were known: no list of made-up keys displaces either. Keys that are
 * good are followed by statements: what is cut off there costs no trusted key.
 */
function cutHistory(
  history: KeyHistory,
  { bundle_keys, feed_keys }: Pick<Registered, 'bundle_keys' | 'feed_keys'>,
): KeyHistory {
  if (history.keys.length <= MAX_HISTORY_KEYS) return history;
  const needed = new Set([
    ...findLiving('bundle', bundle_keys, history).living.keys(),
    ...findLiving('feed', feed_keys, history).living.keys(),
  ]);
  const rank = (key: HistoryKey): number => {
    if (!isRevoked(key)) return 2;
    return needed.has(placeOf(key)) ? 0 : 1;
  };
  const keys = history.keys.toSorted((a, b) => rank(a) - rank(b));
  return { ...history, keys: keys.slice(0, MAX_HISTORY_KEYS) };
}

function hasKeys(history: KeyHistory | undefined, purpose: Followed): boolean {
  return history?.keys.some((key) => key.purpose === purpose) ?? false;
}

/** A stored answer names each key's algorithm; a statement may leave it to the kind. */
function toTrustedKey(kid: string, jwk: KeyEntry['jwk']): TrustedKey {
  const alg = jwk.kty === 'EC' ? 'ES256' : 'EdDSA';
  return { ...jwk, kid, alg: typeof jwk.alg === 'string' ? jwk.alg : alg };
}
