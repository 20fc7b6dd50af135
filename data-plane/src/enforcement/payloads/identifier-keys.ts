/**
 * The tenants' keys for hashing identifiers, which the feed brings sealed. Without a usable key an
 * identifier becomes `[REDACTED]`: it is never recorded in clear, and no call is denied because of
 * it. Proven by identifier-keys.test.ts.
 */
import {
  createIdentifierHash,
  type IdentifierHash,
  SealedIdentifierKey,
} from '@governance/shared/identifier-hash';
import { LRUCache } from 'lru-cache';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import { REDACTED } from '../cover-texts.ts';

export type IdentifierKeys = ReturnType<typeof createIdentifierKeys>;

/** Tenants whose opened keys are cached. */
const KEPT = 10_000;

export function createIdentifierKeys(deps: {
  findSealed(tenantId: string): string | undefined;
  findDeploymentId(tenantId: string): string | undefined;
  /** @throws where the key was not sealed to this data plane */
  open(jwe: string): string;
  raiseAlert: RaiseAlert;
}) {
  const opened = new LRUCache<string, { jwe: string; hash: IdentifierHash | null }>({ max: KEPT });

  function open(tenantId: string, jwe: string): IdentifierHash | null {
    try {
      const sealed = SealedIdentifierKey.parse(JSON.parse(deps.open(jwe)));
      const isHere =
        sealed.tenant_id === tenantId && sealed.deployment_id === deps.findDeploymentId(tenantId);
      return isHere ? createIdentifierHash(tenantId, Buffer.from(sealed.key, 'base64url')) : null;
    } catch {
      return null;
    }
  }

  function withoutHash(tenantId: string, reason: 'no_key' | 'unusable_key'): IdentifierHash {
    deps.raiseAlert(tenantId, {
      alert_type: 'IDENTIFIERS_NOT_HASHED',
      severity: 'medium',
      title: 'Identifiers are removed instead of hashed, since their key is missing',
      details: { reason },
      dedupe_key: `identifiers-not-hashed:${reason}`,
    });
    return () => REDACTED;
  }

  return {
    /** The function that replaces a tenant's identifiers, by the present key. */
    hashOf: (tenantId: string): IdentifierHash => {
      const jwe = deps.findSealed(tenantId);
      let known = opened.get(tenantId);
      // When hashing is switched off, the key's fact may be removed before the new bundle arrives:
      // until then the last key is used.
      if (jwe === undefined) return known?.hash ?? withoutHash(tenantId, 'no_key');
      if (known?.jwe !== jwe) {
        known = { jwe, hash: open(tenantId, jwe) };
        opened.set(tenantId, known);
      }
      return known.hash ?? withoutHash(tenantId, 'unusable_key');
    },
  };
}
