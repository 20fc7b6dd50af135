import { KeyProviderError } from './key-provider.ts';

/**
 * Loads a provider's own library at its first use. It is an optional dependency: an installation
 * without it says so when somebody chooses the provider.
 *
 * @throws KeyProviderError where it is not installed
 */
export async function loadSdk<Sdk>(name: string): Promise<Sdk> {
  try {
    return (await import(name)) as Sdk;
  } catch (cause) {
    throw new KeyProviderError(`the package ${name} is not installed`, { cause });
  }
}
