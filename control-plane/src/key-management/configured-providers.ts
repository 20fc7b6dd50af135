/** The key providers that the operator lets tenants choose, made of the settings. */
import type { Secret } from '@governance/shared/settings';
import { createAwsProvider } from './aws-provider.ts';
import type { KeyProvider, KeyProviderName } from './key-provider.ts';
import { createVaultProvider } from './vault-provider.ts';

/** As in the control plane's configuration. */
export interface KeyProviderSettings {
  kmsProviders: readonly KeyProviderName[];
  awsKmsRegion?: string | undefined;
  vaultAddress?: string | undefined;
  vaultToken?: Secret | undefined;
  vaultNamespace?: string | undefined;
  vaultTransitMount: string;
}

/** Those of SERVICE_KMS_PROVIDERS, beside `local`. Nothing is loaded and nobody is asked yet. */
export function createConfiguredProviders(
  settings: KeyProviderSettings,
): Partial<Record<KeyProviderName, KeyProvider>> {
  const { kmsProviders, vaultAddress: address, vaultToken: token } = settings;
  const providers: Partial<Record<KeyProviderName, KeyProvider>> = {};
  if (kmsProviders.includes('aws')) {
    providers.aws = createAwsProvider({ region: settings.awsKmsRegion });
  }
  if (kmsProviders.includes('vault') && address !== undefined && token !== undefined) {
    const { vaultNamespace: namespace, vaultTransitMount: mount } = settings;
    providers.vault = createVaultProvider({ address, token, namespace, mount });
  }
  return providers;
}
