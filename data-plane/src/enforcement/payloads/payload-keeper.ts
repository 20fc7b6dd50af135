/**
 * Keeps inputs and results of calls as the tenant's data protection requires: the digest goes into
 * the record, the text into the spool. A payload that cannot be kept has no digest in the record
 * either; it raises an alert and is counted, and no call is denied because of it. Large payloads are
 * protected on another thread. Prompts to language models are never kept. Proven by
 * payload-keeper.test.ts.
 */
import { randomBytes } from 'node:crypto';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import {
  MAX_PAYLOAD_BYTES,
  type PayloadPart,
  payloadDigest,
} from '@governance/shared/evidence/event-payload';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import type { PayloadSpool } from '../../payloads/payload-spool.ts';
import type { FairBytes } from '../../upstream/shares/fair-bytes.ts';
import { isList } from '../call/call-kinds.ts';
import type { AgentCall, ScannedCall } from '../call/calls.ts';
import { requestersOf } from '../record/audit.ts';
import type {
  Identified,
  Keeping,
  KeptPayload,
  KeptText,
  LargeValue,
  LargeValues,
  NotKept,
  PayloadKeeper,
  Protection,
} from '../record/kept-payload.ts';
import type { IdentifierKeys } from './identifier-keys.ts';
import { protectionOf } from './protection.ts';

const SALT_BYTES = 16;
/** A value that waits for a thread is in memory as it is and as JSON, on both sides. */
const HELD_TIMES = 3;

export function createPayloadKeeper(deps: {
  spool: Pick<PayloadSpool, 'add'>;
  findDeploymentId(tenantId: string): string | undefined;
  /** The settings of the bundle in force; null where there is none. */
  findSettings(tenantId: string): BundleSettings | null;
  identifiers: Pick<IdentifierKeys, 'hashOf' | 'keyOf'>;
  large: LargeValues;
  /** Values that wait for a thread count here: an answer is handed over meanwhile. */
  room: Pick<FairBytes, 'hasRoom' | 'add'>;
  raiseAlert: RaiseAlert;
  onKept(): void;
  onNotKept(reason: NotKept): void;
}): PayloadKeeper {
  /** A promise only where the value is large. It never rejects. */
  function protect(
    call: AgentCall,
    part: PayloadPart,
    { protection }: Keeping,
    given: Given,
  ): KeptText | Promise<KeptText> {
    const { raw, value } = given;
    // A very long answer would take the threads' time, and is not kept anyway.
    if (raw !== undefined && Buffer.byteLength(raw) > MAX_PAYLOAD_BYTES) return TOO_LARGE;
    if (protection === null) return atOnce(() => raw ?? JSON.stringify(value));
    const { agent, caller } = call;
    const { tenantId } = caller;
    const { requesterId, otherRequesters } = requestersOf(call);
    const identified = { part, agent, requesterId, otherRequesters };
    if (deps.large.isLarge(raw ?? value, protection)) {
      const key = () => deps.identifiers.keyOf(tenantId);
      return protectLarge({ caller, protection, identified, key }, given);
    }
    const hash = (identifier: string) => deps.identifiers.hashOf(tenantId)(identifier);
    return atOnce(() => protectedText(protection, given, { ...identified, hash }));
  }

  /** On another thread, while the value counts as memory of its agent. */
  function protectLarge(
    large: Omit<LargeValue, 'json'>,
    { value, raw, heldBytes }: Given,
  ): KeptText | Promise<KeptText> {
    const { caller } = large;
    let json = raw;
    try {
      json ??= JSON.stringify(value);
    } catch {
      return NOT_REDACTABLE;
    }
    const bytes = Buffer.byteLength(json);
    if (bytes > MAX_PAYLOAD_BYTES) return TOO_LARGE;
    const text = json;
    const held = HELD_TIMES * bytes;
    if (!deps.room.hasRoom(caller, held, heldBytes)) return NO_ROOM;
    deps.room.add(caller, held);
    return deps.large
      .protect({ ...large, json: () => text })
      .then(keptText)
      .finally(() => deps.room.add(caller, -held));
  }

  /** @returns the digest of what is kept; null where it is not */
  function add(
    { id, caller: { tenantId } }: AgentCall,
    part: PayloadPart,
    { keeping, salt }: Pick<KeptPayload, 'keeping' | 'salt'>,
    kept: KeptText,
  ): string | null {
    if ('notKept' in kept) return leaveOut(tenantId, kept.notKept);
    const { text } = kept;
    const { mode, sealingKey } = keeping;
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
    protectInput: (call, inputOf) => {
      const { rules, dlp, ask } = call;
      // A call denied before policy has no policy input.
      if (!rules || !dlp) return null;
      const { keeping } = protectionOf(rules.settings);
      if (!keeping || isList(ask.method) || isOfModel(ask.method)) return null;
      const input = protect(call, 'input', keeping, { value: inputOf(call as ScannedCall) });
      return input instanceof Promise
        ? input.then((done) => ({ keeping, input: done }))
        : { keeping, input };
    },
    keepInput: (call, prepared) => {
      if (!prepared) return null;
      const { keeping, input } = prepared;
      const kept = { salt: randomBytes(SALT_BYTES), keeping };
      return { ...kept, digest: add(call, 'input', kept, input) };
    },
    keepResult: (call, kept, sent, heldBytes) => {
      if (!kept || !('raw' in sent)) return null;
      const { tenantId } = call.caller;
      // A server may take minutes: its answer is kept as the tenant wants it by now, if at all.
      const settings = deps.findSettings(tenantId) ?? call.rules?.settings;
      const keeping = settings && protectionOf(settings).keeping;
      if (!keeping) return null;
      const { raw, value } = sent as { raw: string; value: unknown };
      const result = protect(call, 'result', keeping, { value, raw, heldBytes });
      const addResult = (done: KeptText) => add(call, 'result', { keeping, salt: kept.salt }, done);
      if (!(result instanceof Promise)) return addResult(result);
      return result.then(addResult).catch(() => leaveOut(tenantId, 'no_room'));
    },
  };
}

/** A part of a call. */
interface Given {
  readonly value: unknown;
  /** Its JSON as it came. */
  readonly raw?: string;
  /** Counted for the same answer already: it does not take its own room. */
  readonly heldBytes?: number;
}

const TOO_LARGE: KeptText = { notKept: 'too_large' };
const NO_ROOM: KeptText = { notKept: 'no_room' };
const NOT_REDACTABLE: KeptText = { notKept: 'not_redactable' };

function atOnce(textOf: () => string | undefined): KeptText {
  try {
    return keptText(textOf());
  } catch {
    // A payload that cannot be serialised is not kept; the call goes on.
    return NOT_REDACTABLE;
  }
}

/** @param text undefined where something must be removed but cannot be */
function keptText(text: string | undefined): KeptText {
  if (text === undefined) return NOT_REDACTABLE;
  return Buffer.byteLength(text) > MAX_PAYLOAD_BYTES ? TOO_LARGE : { text };
}

function protectedText(
  { protect }: Protection,
  { value, raw }: Given,
  identified: Identified,
): string | undefined {
  const left = protect(value, identified);
  if (!left) return undefined;
  return raw !== undefined && !left.isChanged ? raw : JSON.stringify(left.value);
}

function isOfModel(method: string): boolean {
  return method.startsWith('localmodel/') || method === 'sampling/createMessage';
}
