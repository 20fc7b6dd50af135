/**
 * A key provider holds the key that encrypts data keys (envelope encryption). It encrypts only data
 * keys, and binds each to its context: it does not decrypt one for another tenant or purpose.
 */
import { createRequire } from 'node:module';
import { z } from 'zod';

export const KeyProviderName = z.enum(['local', 'aws', 'gcp', 'azure', 'vault']);
export type KeyProviderName = z.infer<typeof KeyProviderName>;

/**
 * Libraries that the operator installs for a provider, in the tested versions. The library of `aws`
 * comes with the service.
 */
const PROVIDER_PACKAGES: Partial<Record<KeyProviderName, readonly string[]>> = {
  gcp: ['@google-cloud/kms@5'],
  azure: ['@azure/keyvault-keys@4', '@azure/identity@~4.13'],
};

/**
 * @param folder SERVICE_KMS_LIBRARIES, which is searched before the service's own libraries
 * @returns the package's file
 * @throws Error where it is not installed
 */
export function resolvePackage(name: string, folder: string | undefined): string {
  const paths = [...(folder === undefined ? [] : [folder]), import.meta.dirname];
  return createRequire(import.meta.url).resolve(name, { paths });
}

/** @returns a provider's missing libraries, as arguments of `npm install` */
export function findMissingPackages(
  provider: KeyProviderName,
  resolve: (name: string) => unknown,
): string[] {
  return (PROVIDER_PACKAGES[provider] ?? []).filter((wanted) => {
    try {
      resolve(wanted.slice(0, wanted.lastIndexOf('@')));
      return false;
    } catch {
      return true;
    }
  });
}

/** What a data key is bound to; the provider's encryption context. */
export interface KeyContext {
  tenant_id: string;
  purpose: string;
}

/** More than any provider answers; the rest of a longer answer is not read. */
export const MAX_ANSWER_BYTES = 64 * 1024;

export interface KeyProvider {
  /** @throws KeyProviderError */
  wrap(keyId: string, dataKey: Uint8Array, context: KeyContext): Promise<Uint8Array>;
  /** @throws KeyProviderError, also for another context or changed bytes */
  unwrap(keyId: string, wrapped: Uint8Array, context: KeyContext): Promise<Buffer>;
  /** Why a key id cannot be this provider's; null if it can. */
  findKeyIdFault(keyId: string | null): string | null;
}

/** The provider failed. The message may be shown to an administrator: it contains no secret. */
export class KeyProviderError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'KeyProviderError';
  }
}
