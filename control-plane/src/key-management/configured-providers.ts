/** The key providers that the operator lets tenants choose, created from the settings. */
import type { Secret } from '@governance/shared/settings';
import { createAwsProvider } from './aws-provider.ts';
import { createAzureProvider } from './azure-provider.ts';
import { createGcpProvider } from './gcp-provider.ts';
import type { KeyProvider, KeyProviderName } from './key-provider.ts';
import { createVaultProvider } from './vault-provider.ts';

/** As in the control plane's configuration. */
export interface KeyProviderSettings {
  kmsProviders: readonly KeyProviderName[];
  kmsLibraries?: string | undefined;
  awsKmsRegion?: string | undefined;
  gcpKmsEndpoint?: string | undefined;
  azureKeyVaultUrl?: string | undefined;
  vaultAddress?: string | undefined;
  vaultToken?: Secret | undefined;
  vaultNamespace?: string | undefined;
  vaultTransitMount: string;
}

/** Those of SERVICE_KMS_PROVIDERS, beside `local`. Nothing is loaded or contacted yet. */
export function createConfiguredProviders(
  settings: KeyProviderSettings,
): Partial<Record<KeyProviderName, KeyProvider>> {
  const { kmsProviders, vaultAddress: address, vaultToken: token } = settings;
  const providers: Partial<Record<KeyProviderName, KeyProvider>> = {};
  if (kmsProviders.includes('aws')) {
    providers.aws = createAwsProvider({ region: settings.awsKmsRegion });
  }
  if (kmsProviders.includes('gcp')) {
    providers.gcp = createGcpProvider({
      endpoint: settings.gcpKmsEndpoint,
      libraries: settings.kmsLibraries,
    });
  }
  if (kmsProviders.includes('azure') && settings.azureKeyVaultUrl !== undefined) {
    providers.azure = createAzureProvider({
      vaultUrl: settings.azureKeyVaultUrl,
      libraries: settings.kmsLibraries,
    });
  }
  if (kmsProviders.includes('vault') && address !== undefined && token !== undefined) {
    const { vaultNamespace: namespace, vaultTransitMount: mount } = settings;
    providers.vault = createVaultProvider({ address, token, namespace, mount });
  }
  return providers;
}
