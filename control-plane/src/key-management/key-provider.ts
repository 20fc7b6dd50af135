/**
 * Who holds the key under which data keys are encrypted (envelope encryption). A provider encrypts
 * nothing but data keys, and binds each to its context: with another tenant or purpose it does not
 * decrypt.
 */
import { z } from 'zod';

export const KeyProviderName = z.enum(['local', 'aws', 'gcp', 'azure', 'vault']);
export type KeyProviderName = z.infer<typeof KeyProviderName>;

/** Those that this version can ask; the others are known by name alone. */
export const BUILT_KEY_PROVIDERS = ['local', 'aws', 'vault'] as const satisfies KeyProviderName[];

/** What a data key is bound to; the provider's encryption context. */
export interface KeyContext {
  tenant_id: string;
  purpose: string;
}

export interface KeyProvider {
  /** @throws KeyProviderError */
  wrap(keyId: string, dataKey: Uint8Array, context: KeyContext): Promise<Uint8Array>;
  /** @throws KeyProviderError, also for another context or changed bytes */
  unwrap(keyId: string, wrapped: Uint8Array, context: KeyContext): Promise<Buffer>;
  /** Why a key id cannot be one of this provider's; null where it may be. */
  findKeyIdFault(keyId: string | null): string | null;
}

/** The provider did not do it. Its message may be shown to an administrator: no secret is in it. */
export class KeyProviderError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'KeyProviderError';
  }
}
