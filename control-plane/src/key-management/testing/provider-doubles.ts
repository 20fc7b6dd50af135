/** Doubles of the key services, and the product's providers that use them. */
import { generateKeyPairSync } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import { createAwsProvider } from '../aws-provider.ts';
import { createAzureProvider } from '../azure-provider.ts';
import { createGcpProvider } from '../gcp-provider.ts';
import { createVaultProvider } from '../vault-provider.ts';
import { createAwsDouble } from './aws-double.ts';
import { createAzureDouble } from './azure-double.ts';
import { createGcpDouble, type GcpAccount } from './gcp-double.ts';
import { listen } from './listen.ts';
import { createVaultDouble } from './vault-double.ts';

export const AWS_KEY =
  'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
export const GCP_KEY =
  'projects/project-1/locations/europe/keyRings/governance/cryptoKeys/payloads';

/** The double speaks HTTP, and its name is none of Azure's. */
export const AZURE_CLIENT = {
  allowInsecureConnection: true,
  disableChallengeResourceVerification: true,
};

/** A credential of Azure's SDK with a token that no vault knows. */
export const stranger = {
  getToken: async () => ({ token: 'x', expiresOnTimestamp: Date.now() + 60_000 }),
};

/**
 * Call it at the top of a test file; the doubles are closed after its last test. Each maker has the
 * right credential unless another is given; that of `azure` is then what the SDK itself finds.
 */
export async function providerDoubles() {
  const account = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'secret',
    region: 'eu-west-1',
  };
  const endpoint = await listen(createAwsDouble(account, [AWS_KEY, 'alias/payloads']));
  const vaultDouble = createVaultDouble('the-token', ['payloads']);
  const address = await listen(vaultDouble.listener);
  const serviceAccount = {
    client_email: 'governance@project-1.iam.gserviceaccount.com',
    private_key: rsaPem(),
  };
  const gcpDouble = createGcpDouble(serviceAccount, [GCP_KEY]);
  const gcpAddress = new URL(await listen(gcpDouble.listener));
  const azureDouble = createAzureDouble(['payloads', 'others']);
  const vaultUrl = await listen(azureDouble.listener);

  const aws = (credentials = account) =>
    createAwsProvider({ region: 'eu-west-1', client: { endpoint, credentials } });
  const vault = (token = 'the-token') =>
    createVaultProvider({ address, token: new Secret(token), mount: 'transit' });
  /** @param credentials null for what the SDK itself finds */
  const gcp = (credentials: GcpAccount | null = serviceAccount) =>
    createGcpProvider({
      endpoint: gcpAddress.host,
      client: { protocol: 'http', ...(credentials && { credentials }) },
    });
  const azure = (credential?: object) =>
    createAzureProvider({ vaultUrl, client: AZURE_CLIENT, ...(credential && { credential }) });
  return {
    ...{ account, serviceAccount, vaultUrl },
    ...{ vaultDouble, gcpDouble, azureDouble },
    ...{ aws, vault, gcp, azure },
    /** With credentials that the services refuse. */
    wrong: () => ({
      aws: aws({ ...account, secretAccessKey: 'wrong' }),
      vault: vault('wrong'),
      gcp: gcp({ ...serviceAccount, private_key: rsaPem() }),
      azure: azure(stranger),
    }),
  };
}

function rsaPem(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}
