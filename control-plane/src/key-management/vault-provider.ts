/**
 * Vault's transit engine through its HTTP API. The context is sent as `associated_data`, so the key
 * must be of an AEAD type (aes256-gcm96, the default, or chacha20-poly1305).
 */
import { ByteCollector } from '@governance/shared/byte-collector';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { Secret } from '@governance/shared/settings';
import { z } from 'zod';
import {
  type KeyContext,
  type KeyProvider,
  KeyProviderError,
  MAX_ANSWER_BYTES,
} from './key-provider.ts';

export interface VaultOptions {
  address: string;
  token: Secret;
  namespace?: string | undefined;
  /** Where the transit engine is mounted. */
  mount: string;
}

const TIMEOUT_MS = 10_000;
const KEY_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

const Encrypted = z.object({ data: z.object({ ciphertext: z.string().min(1).max(8_192) }) });
const Decrypted = z.object({ data: z.object({ plaintext: z.base64().max(1_024) }) });

export function createVaultProvider(options: VaultOptions): KeyProvider {
  const base = `${options.address.replace(/\/+$/, '')}/v1/${options.mount}`;

  async function ask<T extends z.ZodType>(
    operation: 'encrypt' | 'decrypt',
    keyName: string,
    body: Record<string, string>,
    answer: T,
  ): Promise<z.infer<T>> {
    const fault = findKeyIdFault(keyName);
    if (fault !== null) throw new KeyProviderError(`kms_key_id ${fault}`);
    let response: Response;
    let text: string | null;
    try {
      response = await fetch(`${base}/${operation}/${keyName}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-vault-request': 'true',
          'x-vault-token': options.token.reveal(),
          ...(options.namespace !== undefined && { 'x-vault-namespace': options.namespace }),
        },
        body: JSON.stringify(body),
        // So that the token is sent to the operator's address only.
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await readShort(response);
    } catch (cause) {
      throw new KeyProviderError('Vault cannot be reached', { cause });
    }
    if (!response.ok) throw new KeyProviderError(`Vault answered with ${response.status}`);
    try {
      if (text === null) throw new TypeError('the answer is too large');
      return answer.parse(JSON.parse(text));
    } catch (cause) {
      throw new KeyProviderError('Vault gave an unexpected answer', { cause });
    }
  }

  return {
    wrap: async (keyId, dataKey, context) => {
      const plaintext = Buffer.from(dataKey).toString('base64');
      const body = { plaintext, associated_data: associated(context) };
      const { data } = await ask('encrypt', keyId, body, Encrypted);
      return Buffer.from(data.ciphertext);
    },
    unwrap: async (keyId, wrapped, context) => {
      const ciphertext = Buffer.from(wrapped).toString('utf8');
      const body = { ciphertext, associated_data: associated(context) };
      const { data } = await ask('decrypt', keyId, body, Decrypted);
      return Buffer.from(data.plaintext, 'base64');
    },
    findKeyIdFault,
  };
}

/** @returns null where it is longer than any answer of Vault; the rest is not read */
async function readShort({ body }: Response): Promise<string | null> {
  const bytes = new ByteCollector(MAX_ANSWER_BYTES);
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    if (!bytes.add(part)) return null;
  }
  return bytes.take().toString('utf8');
}

function findKeyIdFault(keyId: string | null): string | null {
  return keyId !== null && KEY_NAME.test(keyId) ? null : 'must be the name of a transit key';
}

function associated(context: KeyContext): string {
  return Buffer.from(canonicalize(context)).toString('base64');
}
