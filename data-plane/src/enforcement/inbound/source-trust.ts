/**
 * How far a source is trusted: by the rules that match the server or the requested URIs, never by
 * the text of the answer. `block` precedes `untrusted`, which precedes `trust`. A comparison that
 * exceeds its limits counts as a match of a rule that restricts, and as none of a rule that trusts.
 * A call with more URIs than are examined is untrusted if rules restrict URIs. Proven by
 * source-trust.test.ts.
 */
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import type { Effort } from '@governance/shared/glob';
import type { SourceRule, SourceRuleType } from '@governance/shared/settings/inbound-settings';
import { perSettings } from '../permission/per-settings.ts';
import type { FurtherUris, RequestedUris } from './requested-uris.ts';
import {
  canonicalPattern,
  canonicalUri,
  matchesPattern,
  parsePattern,
  type SourceGlob,
} from './source-pattern.ts';

export interface Source {
  readonly serverId: string;
  /** The URIs that the agent requested. */
  readonly requested: RequestedUris;
}

export interface SourceTrust {
  /** Null when no rule matches. */
  readonly type: SourceRuleType | null;
  /** The rule that decided. */
  readonly ruleId?: string;
}

interface PreparedRule {
  readonly rule: SourceRule;
  /** The pattern as written, and in canonical form if that differs. */
  readonly globs: readonly SourceGlob[];
  /** Whether the pattern names a server and a URI. */
  readonly isOfBoth: boolean;
  /** Whether it names a host: others, such as `https://*`, are not compared with bare hosts. */
  readonly namesHost: boolean;
  /** Unix milliseconds. */
  readonly endsAt: number;
}

/** Most characters compared for one answer: about 10 ms in the worst case. */
const MAX_EFFORT = 20_000_000;
const UNKNOWN: SourceTrust = { type: null };

/** The rules by type: restricting ones are checked first, before others use up the effort. */
const preparedOf = perSettings(({ inbound }) => {
  const rules = (inbound?.rules ?? []).map(prepare);
  return {
    block: rules.filter(({ rule }) => rule.rule_type === 'block'),
    untrusted: rules.filter(({ rule }) => rule.rule_type === 'untrusted'),
    trust: rules.filter(({ rule }) => rule.rule_type === 'trust'),
    restrictsUris: rules.filter(
      ({ rule }) => rule.rule_type !== 'trust' && /[*:]/.test(rule.source_pattern),
    ),
  };
});

function prepare(rule: SourceRule): PreparedRule {
  const { source_pattern: pattern, expires_at } = rule;
  const spellings = new Set([pattern, canonicalPattern(pattern)]);
  return {
    rule,
    globs: [...spellings].map(parsePattern),
    isOfBoth: pattern.includes(' '),
    namesHost: /[\p{L}\p{N}]/u.test(hostOf(pattern)),
    endsAt: expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
  };
}

/** The host of a pattern, or what may be one where it has no scheme. */
function hostOf(pattern: string): string {
  const uri = pattern.slice(pattern.indexOf(' ') + 1);
  const slashes = uri.indexOf('://');
  return slashes < 0 ? uri : (uri.slice(slashes + 3).split(/[/?#]/)[0] ?? '');
}

/**
 * The trust in a source, by the rules.
 *
 * @param now Unix milliseconds: an expired rule does not apply
 */
export function findTrust(settings: BundleSettings, source: Source, now: number): SourceTrust {
  const rules = preparedOf(settings);
  const effort: Effort = { left: MAX_EFFORT };
  const { uris, isWhole, further } = source.requested;
  const spelled = spell(uris);
  const { read, withHosts } = restrictedBy(rules.restrictsUris, spelled, further);
  const isRuled = (one: PreparedRule) =>
    one.endsAt > now && mayMatch(one, source, one.namesHost ? withHosts : read, effort);
  const blocked = rules.block.find(isRuled);
  if (blocked !== undefined) return { type: 'block', ruleId: blocked.rule.id };
  const untrusted = rules.untrusted.find(isRuled);
  if (untrusted !== undefined) return { type: 'untrusted', ruleId: untrusted.rule.id };
  const isBeyond =
    !(isWhole && further.isWhole) && rules.restrictsUris.some(({ endsAt }) => endsAt > now);
  if (isBeyond) return { type: 'untrusted' };
  return findTrusted(
    rules.trust.filter(({ endsAt }) => endsAt > now),
    source,
    spelled,
    effort,
  );
}

interface SpelledUri {
  readonly uri: string;
  readonly canonical: string | null;
}

function spell(uris: readonly string[]): SpelledUri[] {
  return uris.map((uri) => ({ uri, canonical: canonicalUri(uri) }));
}

/** What rules that restrict are compared with: everything that a tool might read. */
function restrictedBy(
  rules: readonly PreparedRule[],
  spelled: readonly SpelledUri[],
  { uris, hosts }: FurtherUris,
): { read: readonly SpelledUri[]; withHosts: readonly SpelledUri[] } {
  if (rules.length === 0) return { read: spelled, withHosts: spelled };
  const read = [...spelled, ...spell(uris)];
  const complete = hosts.flatMap((host) => [`https://${host}`, `http://${host}`]);
  return { read, withHosts: [...read, ...spell(complete)] };
}

/** For a rule that restricts: whether any spelling matches, or a match cannot be excluded. */
function mayMatch(
  { globs, isOfBoth }: PreparedRule,
  { serverId }: Source,
  uris: readonly SpelledUri[],
  effort: Effort,
): boolean {
  const matches = (text: string) =>
    globs.some((glob) => matchesPattern(glob, text, effort) !== false);
  const matchesUri = (text: string) =>
    matches(text) || (isOfBoth && matches(`${serverId} ${text}`));
  if (matches(serverId)) return true;
  return uris.some(
    ({ uri, canonical }) =>
      matchesUri(uri) || (canonical !== null && canonical !== uri && matchesUri(canonical)),
  );
}

/** Trusts the source if a rule matches the server, or rules match every URI in both spellings. */
function findTrusted(
  rules: readonly PreparedRule[],
  { serverId, requested }: Source,
  uris: readonly SpelledUri[],
  effort: Effort,
): SourceTrust {
  const isCovered = uris.map(() => false);
  let last: PreparedRule | undefined;
  for (const one of rules) {
    const matches = (text: string) =>
      one.globs.some((glob) => matchesPattern(glob, text, effort) === true);
    const matchesUri = (text: string) =>
      matches(text) || (one.isOfBoth && matches(`${serverId} ${text}`));
    if (matches(serverId)) return { type: 'trust', ruleId: one.rule.id };
    for (const [at, { uri, canonical }] of uris.entries()) {
      if (isCovered[at] || canonical === null) continue;
      if (!matchesUri(uri) || (canonical !== uri && !matchesUri(canonical))) continue;
      isCovered[at] = true;
      last = one;
    }
  }
  const isTrusted = requested.isWhole && uris.length > 0 && isCovered.every(Boolean);
  return isTrusted && last !== undefined ? { type: 'trust', ruleId: last.rule.id } : UNKNOWN;
}
