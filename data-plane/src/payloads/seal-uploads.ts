/** Seals payloads to the control plane's key, in uploads that can be sent. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  PAYLOAD_LIMITS,
  type PayloadContent,
  type SealedPayload,
} from '@governance/shared/evidence/event-payload';
import type { PayloadSealingKey } from '@governance/shared/settings/data-protection-settings';
import { sealPayload } from './seal-payload.ts';

/**
 * Limit of one upload's sealed payloads. The control plane's limit, PAYLOAD_LIMITS.bytes, also
 * counts the rest of the request body.
 */
const UPLOAD_BYTES = 6 * 1024 * 1024;
/** Sealing lets calls go on after this long. */
const TURN_MS = 5;

export interface NewPayload {
  content: PayloadContent;
  sealingKey: PayloadSealingKey;
}

/** Bytes that a payload takes besides its text. */
const OVERHEAD_BYTES = 1024;

export function sizeOf({ content }: NewPayload): number {
  return Buffer.byteLength(content.text) + OVERHEAD_BYTES;
}

/** @param onUnsealed called for each payload that could not be sealed, and is left out */
export async function* sealUploads(
  payloads: readonly NewPayload[],
  onUnsealed: () => void,
): AsyncGenerator<SealedPayload[]> {
  let upload: SealedPayload[] = [];
  let bytes = 0;
  let turnBegan = performance.now();
  for (const payload of payloads) {
    if (performance.now() - turnBegan > TURN_MS) {
      await nextTurn();
      turnBegan = performance.now();
    }
    const part = trySeal(payload);
    if (!part) {
      onUnsealed();
      continue;
    }
    const isFull = upload.length === PAYLOAD_LIMITS.parts || bytes + part.jwe.length > UPLOAD_BYTES;
    if (isFull && upload.length > 0) {
      yield upload;
      upload = [];
      bytes = 0;
    }
    upload.push(part);
    bytes += part.jwe.length;
  }
  if (upload.length > 0) yield upload;
}

function trySeal({ content, sealingKey }: NewPayload): SealedPayload | undefined {
  try {
    const jwe = sealPayload(content, sealingKey);
    return { event_id: content.event_id, part: content.part, jwe };
  } catch {
    return undefined;
  }
}
