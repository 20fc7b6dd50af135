/**
 * Keeps inputs and results of calls as the tenant's data protection requires: the digest goes into
 * the record, the text into the spool. A payload that cannot be kept has no digest in the record
 * either; it raises an alert and is counted, and no call is denied because of it. Prompts to
 * language models are never kept. Proven by payload-keeper.test.ts.
 */
import { randomBytes } from 'node:crypto';
import {
  MAX_PAYLOAD_BYTES,
  type PayloadPart,
  payloadDigest,
} from '@governance/shared/event-payload';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import type { PayloadSpool } from '../../payloads/payload-spool.ts';
import { requestersOf } from '../audit.ts';
import { isList } from '../call-kinds.ts';
import type { AgentCall, ScannedCall } from '../calls.ts';
import type { Identified, KeptPayload, PayloadKeeper, Protection } from '../kept-payload.ts';
import type { IdentifierKeys } from './identifier-keys.ts';
import { protectionOf } from './protection.ts';

/** Why a payload is not kept. */
export type NotKept = 'no_room' | 'too_large' | 'not_redactable';

const SALT_BYTES = 16;

export function createPayloadKeeper(deps: {
  spool: Pick<PayloadSpool, 'add'>;
  findDeploymentId(tenantId: string): string | undefined;
  identifiers: IdentifierKeys;
  raiseAlert: RaiseAlert;
  onKept(): void;
  onNotKept(reason: NotKept): void;
}): PayloadKeeper {
  function keep(
    call: AgentCall,
    part: PayloadPart,
    { salt, protection }: Pick<KeptPayload, 'salt' | 'protection'>,
    given: { value: unknown; raw?: string },
  ): string | null {
    const { id, agent } = call;
    const { tenantId } = call.caller;
    // Checked before protection: searching a very long answer would delay other calls.
    if (given.raw !== undefined && Buffer.byteLength(given.raw) > MAX_PAYLOAD_BYTES) {
      return leaveOut(tenantId, 'too_large');
    }
    const { requesterId, otherRequesters } = requestersOf(call);
    const text = textOf(protection, given, {
      said: part,
      agent,
      requesterId,
      otherRequesters,
      hash: (identifier) => deps.identifiers.hashOf(tenantId)(identifier),
    });
    if (text === undefined) return leaveOut(tenantId, 'not_redactable');
    if (Buffer.byteLength(text) > MAX_PAYLOAD_BYTES) return leaveOut(tenantId, 'too_large');
    const { mode, sealingKey } = protection;
    const deploymentId = deps.findDeploymentId(tenantId);
    const isAdded =
      deploymentId !== undefined &&
      deps.spool.add({
        content: {
          tenant_id: tenantId,
          deployment_id: deploymentId,
          event_id: id,
          part,
          mode,
          salt: salt.toString('base64url'),
          text,
        },
        sealingKey,
      });
    if (!isAdded) return leaveOut(tenantId, 'no_room');
    deps.onKept();
    return payloadDigest(salt, text);
  }

  function leaveOut(tenantId: string, reason: NotKept): null {
    deps.onNotKept(reason);
    deps.raiseAlert(tenantId, {
      alert_type: 'PAYLOAD_NOT_KEPT',
      severity: reason === 'no_room' ? 'high' : 'medium',
      title: 'The input or result of a call could not be kept beside its record',
      details: { reason },
      dedupe_key: `payload-not-kept:${reason}`,
    });
    return null;
  }

  return {
    keepInput: (call, inputOf) => {
      const { rules, dlp, ask } = call;
      // A call denied before policy has no policy input.
      if (!rules || !dlp) return null;
      const protection = protectionOf(rules.settings).keeps;
      if (!protection || isList(ask.method) || isOfModel(ask.method)) return null;
      const kept = { salt: randomBytes(SALT_BYTES), protection };
      const input = inputOf(call as ScannedCall);
      return { ...kept, digest: keep(call, 'input', kept, { value: input }) };
    },
    keepResult: (call, kept, sent) => {
      if (!kept || !('raw' in sent)) return null;
      const { raw, value } = sent as { raw: string; value: unknown };
      return keep(call, 'result', kept, { value, raw });
    },
  };
}

/** @returns undefined where something must be removed but cannot be */
function textOf(
  protection: Protection,
  { value, raw }: { value: unknown; raw?: string },
  identified: Identified,
): string | undefined {
  try {
    const left = protection.protect(value, identified);
    if (!left) return undefined;
    return raw !== undefined && !left.isChanged ? raw : JSON.stringify(left.value);
  } catch {
    // A payload that cannot be serialised is not kept; the call goes on.
    return undefined;
  }
}

function isOfModel(method: string): boolean {
  return method.startsWith('localmodel/') || method === 'sampling/createMessage';
}
