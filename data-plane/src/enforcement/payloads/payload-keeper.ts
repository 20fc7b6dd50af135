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
import type { FairBytes } from '../../upstream/shares/fair-bytes.ts';
import { requestersOf } from '../audit.ts';
import { isList } from '../call-kinds.ts';
import type { AgentCall, ScannedCall } from '../calls.ts';
import { agentKeyOf } from '../eligibility.ts';
import type { Identified, KeptPayload, PayloadKeeper, Protection } from '../kept-payload.ts';
import type { DlpScans } from '../scan-thread/dlp-scans.ts';
import { sizeOf } from './cover-removed.ts';
import type { IdentifierKeys } from './identifier-keys.ts';
import { protectionOf } from './protection.ts';

/** Why a payload is not kept. */
export type NotKept = 'no_room' | 'too_large' | 'not_redactable';

const SALT_BYTES = 16;
/** A value on its way through another thread is in memory as a value and twice as text. */
const HELD_TIMES = 3;

interface Given {
  readonly value: unknown;
  /** The answer as it came. */
  readonly raw?: string;
}

export function createPayloadKeeper(deps: {
  spool: Pick<PayloadSpool, 'add'>;
  findDeploymentId(tenantId: string): string | undefined;
  identifiers: IdentifierKeys;
  scans: Pick<DlpScans, 'kept'>;
  /** Values that wait for a thread count here. */
  room: Pick<FairBytes, 'hasRoom' | 'add'>;
  raiseAlert: RaiseAlert;
  onKept(): void;
  onNotKept(reason: NotKept): void;
}): PayloadKeeper {
  /** The digest of what is kept; null where nothing is. It never rejects. */
  function keep(
    call: AgentCall,
    part: PayloadPart,
    kept: Pick<KeptPayload, 'salt' | 'protection'>,
    given: Given,
  ): string | null | Promise<string | null> {
    const { agent, caller } = call;
    const { tenantId } = caller;
    // Checked before protection: searching a very long answer would delay other calls.
    if (given.raw !== undefined && Buffer.byteLength(given.raw) > MAX_PAYLOAD_BYTES) {
      return leaveOut(tenantId, 'too_large');
    }
    const { requesterId, otherRequesters } = requestersOf(call);
    const identified: Identified = {
      said: part,
      agent,
      requesterId,
      otherRequesters,
      hash: (identifier) => deps.identifiers.hashOf(tenantId)(identifier),
    };
    if (needsThread(kept.protection, given.value)) {
      return protectElsewhere(call, part, kept, given, identified);
    }
    return store(call, part, kept, textOf(kept.protection, given, identified));
  }

  /** Protects a large value on another thread, while it counts as memory of its agent. */
  async function protectElsewhere(
    call: AgentCall,
    part: PayloadPart,
    kept: Pick<KeptPayload, 'salt' | 'protection'>,
    given: Given,
    identified: Identified,
  ): Promise<string | null> {
    const { caller } = call;
    const { tenantId, agent } = caller;
    const owner = { tenantId, key: agentKeyOf(tenantId, agent.id) };
    const bytes = HELD_TIMES * sizeOf(given.value);
    if (!deps.room.hasRoom(owner, bytes)) return leaveOut(tenantId, 'no_room');
    deps.room.add(owner, bytes);
    try {
      const left = await kept.protection.protectLarge(given.value, identified, (value, settings) =>
        deps.scans.kept(caller, value, settings),
      );
      return store(call, part, kept, left && JSON.stringify(left.value));
    } catch {
      // The thread was busy or ended, or the tenant's own patterns took too long.
      return leaveOut(tenantId, 'not_redactable');
    } finally {
      deps.room.add(owner, -bytes);
    }
  }

  function store(
    { id, caller: { tenantId } }: AgentCall,
    part: PayloadPart,
    { salt, protection }: Pick<KeptPayload, 'salt' | 'protection'>,
    text: string | undefined,
  ): string | null {
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
      const digest = keep(call, 'input', kept, { value: input });
      if (!(digest instanceof Promise)) return { ...kept, digest };
      return digest.then((made) => ({ ...kept, digest: made }));
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
  { value, raw }: Given,
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

/** A value too deep to be measured is too deep to be kept: `textOf` tells. */
function needsThread(protection: Protection, value: unknown): boolean {
  try {
    return protection.needsThread(value);
  } catch {
    return false;
  }
}

function isOfModel(method: string): boolean {
  return method.startsWith('localmodel/') || method === 'sampling/createMessage';
}
