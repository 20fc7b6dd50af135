import { pathToFileURL } from 'node:url';
import { KeyProviderError, resolvePackage } from './key-provider.ts';

/**
 * Loads a provider's library at its first use. A missing library is reported when somebody chooses
 * the provider.
 *
 * @param folder SERVICE_KMS_LIBRARIES, for libraries that do not come with the service
 * @throws KeyProviderError where it is not installed
 */
export async function loadSdk<Sdk>(name: string, folder?: string): Promise<Sdk> {
  try {
    const loaded = await import(pathToFileURL(resolvePackage(name, folder)).href);
    return (loaded.default ?? loaded) as Sdk;
  } catch (cause) {
    throw new KeyProviderError(`the package ${name} is not installed`, { cause });
  }
}
