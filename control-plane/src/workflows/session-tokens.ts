/**
 * Signs the tokens of workflow sessions and delegations, and publishes what they are verified with.
 * The keys persist, unlike those of agents' tokens in development: a session may last for days.
 */
import { canonicalize } from '@governance/shared/canonical-json';
import { TokenKeysFact } from '@governance/shared/facts';
import {
  SESSION_TOKEN_ALG,
  type SessionTokenClass,
  sessionTokenAudience,
  sessionTokenTyp,
} from '@governance/shared/session-token';
import { SignJWT } from 'jose';
import { forEachTenant } from '../platform/each-tenant.ts';
import type { Facts } from '../platform/feature.ts';
import type { ServiceKeys } from '../platform/keys.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/tenant-scope.ts';

const CLASSES = ['workflow', 'delegation'] as const;
const KIND = 'optional.session_token_keys';

export interface SessionTokenDeps {
  serviceKeys: Pick<ServiceKeys, 'sessionTokenKey' | 'sessionTokenVerificationKeys'>;
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  /** The issuer. */
  publicUrl: string;
  now: () => Date;
}

export interface SessionTokens {
  /** @param subject the session, or the delegation */
  sign(
    kind: SessionTokenClass,
    token: { tenantId: string; subject: string; expiresAt: Date; feedSeq: number },
  ): Promise<string>;
  facts: Facts;
}

/** Builds it. */
export function createSessionTokens(deps: SessionTokenDeps): SessionTokens {
  const { serviceKeys, db, publicUrl, now } = deps;

  async function factOf(kind: SessionTokenClass): Promise<TokenKeysFact> {
    // There is one from then on.
    await serviceKeys.sessionTokenKey(kind);
    return { issuer: publicUrl, keys: await serviceKeys.sessionTokenVerificationKeys(kind) };
  }

  async function publishTo(tenantId: string, facts: Map<SessionTokenClass, TokenKeysFact>) {
    await db.inTenant(systemScope(tenantId), async (tx) => {
      for (const [kind, fact] of facts) {
        if (!(await isPublished(tx, kind, fact))) {
          tx.feed.append({ kind: KIND, key: kind, value: fact });
        }
      }
    });
  }

  return {
    sign: async (kind, { tenantId, subject, expiresAt, feedSeq }) => {
      const { key, kid } = await serviceKeys.sessionTokenKey(kind);
      return new SignJWT({ tenant_id: tenantId, feed_seq: feedSeq })
        .setProtectedHeader({ alg: SESSION_TOKEN_ALG, typ: sessionTokenTyp(kind), kid })
        .setSubject(subject)
        .setIssuer(publicUrl)
        .setAudience(sessionTokenAudience(kind, publicUrl))
        .setIssuedAt(Math.floor(now().getTime() / 1000))
        .setExpirationTime(Math.floor(expiresAt.getTime() / 1000))
        .sign(key);
    },
    facts: {
      begin: async (tx) => {
        for (const kind of CLASSES) {
          tx.feed.append({ kind: KIND, key: kind, value: await factOf(kind) });
        }
      },
      publish: async () => {
        const facts = new Map<SessionTokenClass, TokenKeysFact>();
        for (const kind of CLASSES) facts.set(kind, await factOf(kind));
        const { signal } = new AbortController();
        await forEachTenant(db, signal, (tenantId) => publishTo(tenantId, facts));
      },
    },
  };
}

async function isPublished(
  { db, scope: { tenantId } }: TenantTransaction,
  kind: SessionTokenClass,
  fact: TokenKeysFact,
): Promise<boolean> {
  const newest = await db.feedEntry.findFirst({
    where: { tenantId, kind: KIND, key: kind },
    orderBy: { seq: 'desc' },
    select: { value: true },
  });
  const published = newest?.value ? TokenKeysFact.safeParse(JSON.parse(newest.value)) : undefined;
  return published?.success === true && canonicalize(published.data) === canonicalize(fact);
}
