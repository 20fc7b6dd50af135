/**
 * How far a source is trusted: by the rules that match the server or what was requested of it,
 * never by text of its answer. block is before untrusted, untrusted before trust; what cannot be
 * compared within bounds is untrusted.
 */
import type { BundleSettings } from '@governance/shared/bundle-format';
import { type Effort, Glob } from '@governance/shared/glob';
import type { SourceRule, SourceRuleType } from '@governance/shared/inbound-settings';
import { perSettings } from '../per-settings.ts';

export interface Source {
  readonly serverId: string;
  /** The URIs that the agent asked for. */
  readonly uris: readonly string[];
}

export interface SourceTrust {
  /** Null where no rule matches. */
  readonly type: SourceRuleType | null;
  /** The rule that decided. */
  readonly ruleId?: string;
}

interface PreparedRule {
  readonly rule: SourceRule;
  readonly glob: Glob;
  /** Unix milliseconds. */
  readonly endsAt: number;
}

/** Steps of comparing for one answer: some milliseconds. */
const MAX_EFFORT = 2_000_000;
const UNKNOWN: SourceTrust = { type: null };

const preparedOf = perSettings(({ inbound }): readonly PreparedRule[] =>
  (inbound?.rules ?? []).map((rule) => ({
    rule,
    glob: new Glob(rule.source_pattern, 'name'),
    endsAt: rule.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(rule.expires_at),
  })),
);

/**
 * What the rules say of a source.
 *
 * @param now Unix milliseconds: an expired rule says nothing
 */
export function findTrust(settings: BundleSettings, source: Source, now: number): SourceTrust {
  const rules = preparedOf(settings);
  if (rules.length === 0) return UNKNOWN;
  const effort: Effort = { left: MAX_EFFORT };
  const uris = source.uris.map((uri) => ({ uri, canonical: canonicalUri(uri) }));
  const isTrusted = uris.map(() => false);
  let untrusted: SourceTrust | undefined;
  let trusted: SourceTrust | undefined;
  for (const { rule, glob, endsAt } of rules) {
    if (endsAt <= now) continue;
    const found: SourceTrust = { type: rule.rule_type, ruleId: rule.id };
    const isServer = glob.matches(source.serverId, effort);
    if (rule.rule_type === 'trust') {
      if (isServer) trusted = found;
      for (const [at, { uri, canonical }] of uris.entries()) {
        // Both spellings: nothing is trusted for how it is written.
        const isMatch =
          canonical !== null && glob.matches(uri, effort) && glob.matches(canonical, effort);
        if (isMatch) isTrusted[at] = true;
      }
      if (isTrusted.length > 0 && isTrusted.every(Boolean)) trusted ??= found;
    } else if (isServer || uris.some((one) => matchesEither(glob, one, effort))) {
      if (rule.rule_type === 'block') return found;
      untrusted = found;
    }
    if (effort.left < 0) return untrusted ?? { type: 'untrusted', ruleId: rule.id };
  }
  return untrusted ?? trusted ?? UNKNOWN;
}

function matchesEither(
  glob: Glob,
  { uri, canonical }: { uri: string; canonical: string | null },
  effort: Effort,
): boolean {
  return glob.matches(uri, effort) || (canonical !== null && glob.matches(canonical, effort));
}

/** As a client would ask for it, without a user: `https://good@evil` is evil's. Null for no URI. */
function canonicalUri(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const url = new URL(uri);
  url.username = '';
  url.password = '';
  return url.href;
}
