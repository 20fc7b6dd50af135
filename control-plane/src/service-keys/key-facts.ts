/**
 * The service's public keys as facts of every tenant: the keys that verify tokens, and the history
 * of the keys that data planes follow. Published when a tenant is created, at each start, after a
 * rotation, and when the last token of an earlier key has expired.
 */

import { FACTS, type NewFact, type TokenKeysFact } from '@governance/shared/channel/facts';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { DAY_MS, HOUR_MS } from '@governance/shared/time/durations';
import type { SessionTokenClass } from '@governance/shared/tokens/session-token';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { readFollowedHistory } from '../platform/keys/key-history.ts';
import type { ServiceKeys } from '../platform/keys/keys.ts';
import type { TokenKeys } from '../platform/keys/token-keys.ts';

/** The longest life of a workflow session and its delegations, plus an hour. */
const SESSION_TOKEN_LIFE_MS = 30 * DAY_MS + HOUR_MS;

export interface KeyFactsDeps {
  serviceKeys: ServiceKeys;
  tokenKeys: Pick<TokenKeys, 'verification'>;
  /** The issuer of tokens. */
  publicUrl: string;
  /** By which keys begin and end. */
  keyNow: () => Date;
}

/** @returns a function that reads the facts to publish now */
export function createKeyFacts({ serviceKeys, tokenKeys, publicUrl, keyNow }: KeyFactsDeps) {
  async function sessionKeys(kind: SessionTokenClass): Promise<TokenKeysFact> {
    const purpose = `${kind}-token` as const;
    const endedAfter = new Date(keyNow().getTime() - SESSION_TOKEN_LIFE_MS);
    return { issuer: publicUrl, keys: await serviceKeys.verificationKeys(purpose, endedAfter) };
  }

  return async (): Promise<NewFact[]> => {
    // These calls create missing keys, so that the history has a key of each purpose.
    await serviceKeys.bundleVerificationKeys();
    await serviceKeys.feedVerificationKeys();
    const [tokens, workflow, delegation, history] = await Promise.all([
      tokenKeys.verification(),
      sessionKeys('workflow'),
      sessionKeys('delegation'),
      readFollowedHistory(serviceKeys),
    ]);
    return [
      { kind: 'token_keys', key: 'current', value: { issuer: publicUrl, keys: tokens } },
      { kind: 'optional.session_token_keys', key: 'workflow', value: workflow },
      { kind: 'optional.session_token_keys', key: 'delegation', value: delegation },
      { kind: 'optional.key_history', key: 'current', value: history },
    ];
  };
}

/**
 * Appends the facts that the tenant's feed does not have yet.
 *
 * @returns whether any was appended
 */
export async function appendNewFacts(
  tx: TenantTransaction,
  facts: readonly NewFact[],
): Promise<boolean> {
  let isNews = false;
  for (const fact of facts) {
    const { kind, key } = fact;
    const newest = await tx.db.feedEntry.findFirst({
      where: { tenantId: tx.scope.tenantId, kind, key },
      orderBy: { seq: 'desc' },
      select: { value: true },
    });
    const published = newest?.value ? FACTS[kind].safeParse(JSON.parse(newest.value)) : undefined;
    if (published?.success && formOf(published.data) === formOf(fact.value)) continue;
    tx.feed.append(fact);
    isNews = true;
  }
  return isNews;
}

/** A value in canonical form, in which the order of its keys does not matter. */
export function formOf(value: unknown): string {
  const { keys, ...rest } = value as { keys: readonly unknown[] };
  return canonicalize({ ...rest, keys: keys.map((key) => canonicalize(key)).sort() });
}
