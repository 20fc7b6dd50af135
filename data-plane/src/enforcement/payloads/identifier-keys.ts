/**
 * The tenants' keys for hashing identifiers, which the feed brings sealed. Without a usable key an
 * identifier becomes `[REDACTED]`: it is never recorded in clear, and no call is denied because of
 * it. Proven by identifier-keys.test.ts.
 */
import {
  createIdentifierHash,
  type IdentifierHash,
  SealedIdentifierKey,
} from '@governance/shared/keys/identifier-hash';
import { LRUCache } from 'lru-cache';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import { REDACTED } from '../call/cover-texts.ts';
import type { IdentifierKey } from '../record/kept-payload.ts';

export type IdentifierKeys = ReturnType<typeof createIdentifierKeys>;

/** Tenants whose opened keys are cached. */
const KEPT = 10_000;

interface Usable {
  readonly key: Uint8Array;
  readonly hash: IdentifierHash;
}

interface Opened {
  readonly jwe: string;
  readonly usable: Usable | null;
}

const removeAll: IdentifierHash = () => REDACTED;

export function createIdentifierKeys(deps: {
  findSealed(tenantId: string): string | undefined;
  findDeploymentId(tenantId: string): string | undefined;
  /** @throws where the key was not sealed to this data plane */
  open(jwe: string): string;
  raiseAlert: RaiseAlert;
}) {
  const opened = new LRUCache<string, Opened>({ max: KEPT });

  function open(tenantId: string, jwe: string): Usable | null {
    try {
      const sealed = SealedIdentifierKey.parse(JSON.parse(deps.open(jwe)));
      const isHere =
        sealed.tenant_id === tenantId && sealed.deployment_id === deps.findDeploymentId(tenantId);
      if (!isHere) return null;
      const key = Buffer.from(sealed.key, 'base64url');
      return { key, hash: createIdentifierHash(tenantId, key) };
    } catch {
      return null;
    }
  }

  /** The present key; null where there is none that can be used, which is reported. */
  function find(tenantId: string): Usable | null {
    const jwe = deps.findSealed(tenantId);
    let known = opened.get(tenantId);
    // When hashing is switched off, the key's fact may be removed before the new bundle arrives:
    // until then the last key is used.
    if (jwe !== undefined && known?.jwe !== jwe) {
      known = { jwe, usable: open(tenantId, jwe) };
      opened.set(tenantId, known);
    }
    const usable = known?.usable ?? null;
    if (usable === null) report(tenantId, jwe === undefined ? 'no_key' : 'unusable_key');
    return usable;
  }

  function report(tenantId: string, reason: 'no_key' | 'unusable_key'): void {
    deps.raiseAlert(tenantId, {
      alert_type: 'IDENTIFIERS_NOT_HASHED',
      severity: 'medium',
      title: 'Identifiers are removed instead of hashed, since their key is missing',
      details: { reason },
      dedupe_key: `identifiers-not-hashed:${reason}`,
    });
  }

  return {
    /** The function that replaces a tenant's identifiers, by the present key. */
    hashOf: (tenantId: string): IdentifierHash => find(tenantId)?.hash ?? removeAll,
    /** That key itself, for another thread; null where there is none that can be used. */
    keyOf: (tenantId: string): IdentifierKey | null => {
      const usable = find(tenantId);
      return usable && { tenantId, key: usable.key };
    },
  };
}
