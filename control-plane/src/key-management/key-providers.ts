/** The key providers of this installation, and a test of whether one works. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { MasterKey } from '../platform/keys/master-key.ts';
import {
  type KeyContext,
  type KeyProvider,
  KeyProviderError,
  type KeyProviderName,
} from './key-provider.ts';
import { createLocalProvider } from './local-provider.ts';

const DATA_KEY_BYTES = 32;

export interface KeyProviders {
  /** @throws KeyProviderError for one that the operator has not set up */
  get(name: KeyProviderName): KeyProvider;
  /**
   * Encrypts and decrypts a data key, as for a payload.
   *
   * @throws KeyProviderError with the reason of a failure
   */
  tryOut(name: KeyProviderName, keyId: string, context: KeyContext): Promise<void>;
}

/** @param remote the providers of the operator's settings (configured-providers.ts) */
export function createKeyProviders(
  masterKey: MasterKey,
  remote: Partial<Record<KeyProviderName, KeyProvider>> = {},
): KeyProviders {
  const providers = { ...remote, local: createLocalProvider(masterKey) };
  const get = (name: KeyProviderName) => {
    const provider = providers[name];
    if (provider) return provider;
    throw new KeyProviderError(`the key provider ${name} is not set up in this installation`);
  };
  return {
    get,
    tryOut: async (name, keyId, context) => {
      const provider = get(name);
      const dataKey = randomBytes(DATA_KEY_BYTES);
      const back = await provider.unwrap(
        keyId,
        await provider.wrap(keyId, dataKey, context),
        context,
      );
      if (back.length === dataKey.length && timingSafeEqual(back, dataKey)) return;
      throw new KeyProviderError(`the key provider ${name} decrypted to something else`);
    },
  };
}
