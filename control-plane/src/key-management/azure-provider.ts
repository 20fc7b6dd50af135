/**
 * Azure Key Vault through its SDK, which finds its credentials as in every Azure program. `wrapKey`
 * takes no context, so the vault wraps a random key that is made for one data key only, and that
 * key encrypts the data key with the context as associated data. Tenants name keys in the
 * operator's vault, never an address, since the operator's token would be sent there.
 */
import { randomBytes } from 'node:crypto';
import { inTime } from '@governance/shared/time/in-time';
import { z } from 'zod';
import { decryptUnder, encryptUnder } from './data-keys.ts';
import { type KeyProvider, KeyProviderError, MAX_ANSWER_BYTES } from './key-provider.ts';
import { loadSdk } from './load-sdk.ts';

export interface AzureOptions {
  vaultUrl: string;
  /** SERVICE_KMS_LIBRARIES. */
  libraries?: string | undefined;
  /** Replaces DefaultAzureCredential. */
  credential?: object;
  /** Further settings of the SDK, which override those set here. */
  client?: Record<string, unknown>;
  /** How long an answer may take, with all attempts; 10 s unless given. */
  timeoutMs?: number;
}

/** The part of `@azure/keyvault-keys` that is used. */
interface KeysSdk {
  KeyClient: new (vaultUrl: string, credential: object, options: object) => KeyClient;
  CryptographyClient: new (key: object, credential: object, options: object) => CryptographyClient;
}
interface KeyClient {
  getKey(name: string, options: object): Promise<VaultKey>;
}
interface VaultKey {
  properties: { version?: string };
}
interface CryptographyClient {
  wrapKey(algorithm: string, key: Uint8Array, options: object): Promise<Wrapped>;
  unwrapKey(algorithm: string, wrapped: Uint8Array, options: object): Promise<Wrapped>;
}
interface Wrapped {
  result?: Uint8Array;
}
/** The part of `@azure/identity` that is used. */
interface IdentitySdk {
  DefaultAzureCredential: new () => object;
}

/** The part of the SDK's request that is used. */
interface SdkRequest {
  abortSignal?: AbortSignal;
  onDownloadProgress?: (progress: { loadedBytes: number }) => void;
}

/** Ends a request whose answer is too long. */
const SHORT_ANSWERS = {
  name: 'shortAnswers',
  sendRequest: <T>(request: SdkRequest, next: (request: SdkRequest) => Promise<T>): Promise<T> => {
    const ending = new AbortController();
    const { abortSignal } = request;
    request.abortSignal = AbortSignal.any([ending.signal, ...(abortSignal ? [abortSignal] : [])]);
    request.onDownloadProgress = ({ loadedBytes }) => {
      if (loadedBytes <= MAX_ANSWER_BYTES) return;
      ending.abort();
      // The SDK does not notice the end of an answer that it counts.
      throw new KeyProviderError('Azure Key Vault gave an unexpected answer');
    };
    return next(request);
  },
};

const ALGORITHM = 'RSA-OAEP-256';
const WRAPPING_KEY_BYTES = 32;
const TIMEOUT_MS = 10_000;
const VERSION = /^[0-9a-f]{32}$/;
const KEY_ID = /^(?<name>[A-Za-z0-9-]{1,127})(?:\/(?<version>[0-9a-f]{32}))?$/;

/** What is stored: the version of the vault's key, the wrapped key, and the ciphertext under it. */
const Stored = z.strictObject({
  v: z.literal(1),
  version: z.string().regex(VERSION),
  key: z.base64().max(8_192),
  sealed: z.base64().max(1_024),
});

interface Sdk {
  keys: KeyClient;
  cryptographyFor(key: VaultKey): CryptographyClient;
}

export function createAzureProvider(options: AzureOptions): KeyProvider {
  let sdk: Promise<Sdk> | undefined;
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;

  async function open(): Promise<Sdk> {
    const load = <T>(name: string) => loadSdk<T>(name, options.libraries);
    const { KeyClient, CryptographyClient } = await load<KeysSdk>('@azure/keyvault-keys');
    const credential =
      options.credential ??
      new (await load<IdentitySdk>('@azure/identity')).DefaultAzureCredential();
    const client = {
      retryOptions: { maxRetries: 2 },
      additionalPolicies: [{ policy: SHORT_ANSWERS, position: 'perRetry' }],
      ...options.client,
    };
    return {
      keys: new KeyClient(options.vaultUrl, credential, client),
      cryptographyFor: (key) => new CryptographyClient(key, credential, client),
    };
  }

  async function ask<T>(work: (sdk: Sdk, options: object) => Promise<T>): Promise<T> {
    sdk ??= open();
    sdk.catch(() => (sdk = undefined));
    try {
      const answering = work(await sdk, { abortSignal: AbortSignal.timeout(timeoutMs) });
      // The SDK's own end reaches no answer that has begun and is compressed.
      return await inTime(answering, timeoutMs, () => {
        throw new KeyProviderError('Azure Key Vault did not answer');
      });
    } catch (cause) {
      if (cause instanceof KeyProviderError) throw cause;
      throw new KeyProviderError(`Azure Key Vault answered with ${nameOf(cause)}`, { cause });
    }
  }

  return {
    wrap: async (keyId, dataKey, context) => {
      const { name, version: wanted } = placeOf(keyId);
      const wrapping = randomBytes(WRAPPING_KEY_BYTES);
      const { version, result } = await ask(async ({ keys, cryptographyFor }, limits) => {
        const key = await keys.getKey(name, { ...limits, ...(wanted && { version: wanted }) });
        const answer = await cryptographyFor(key).wrapKey(ALGORITHM, wrapping, limits);
        return { version: key.properties.version, ...answer };
      });
      const stored = Stored.safeParse({
        v: 1,
        version,
        key: Buffer.from(result ?? '').toString('base64'),
        sealed: Buffer.from(
          encryptUnder({ id: '', key: wrapping }, dataKey, { ...context }),
        ).toString('base64'),
      });
      if (!stored.success || !result?.length) throw malformed();
      return Buffer.from(JSON.stringify(stored.data));
    },
    unwrap: async (keyId, wrapped, context) => {
      const { name } = placeOf(keyId);
      const { version, key, sealed } = parseStored(wrapped);
      const { result } = await ask(async ({ keys, cryptographyFor }, limits) => {
        const of = await keys.getKey(name, { ...limits, version });
        return cryptographyFor(of).unwrapKey(ALGORITHM, Buffer.from(key, 'base64'), limits);
      });
      if (result?.length !== WRAPPING_KEY_BYTES) throw malformed();
      try {
        const opened = { id: '', key: Buffer.from(result) };
        return decryptUnder(opened, Buffer.from(sealed, 'base64'), { ...context });
      } catch (cause) {
        throw new KeyProviderError('the data key has another context, or was tampered with', {
          cause,
        });
      }
    },
    findKeyIdFault,
  };
}

function findKeyIdFault(keyId: string | null): string | null {
  if (keyId !== null && KEY_ID.test(keyId)) return null;
  return 'must be the name of a key in the vault, or name/version';
}

function placeOf(keyId: string): { name: string; version: string | undefined } {
  const { name, version } = KEY_ID.exec(keyId)?.groups ?? {};
  if (name === undefined) throw new KeyProviderError(`kms_key_id ${findKeyIdFault(keyId)}`);
  return { name, version };
}

function parseStored(wrapped: Uint8Array): z.infer<typeof Stored> {
  try {
    return Stored.parse(JSON.parse(Buffer.from(wrapped).toString('utf8')));
  } catch (cause) {
    throw new KeyProviderError('this key provider did not wrap the stored data key', { cause });
  }
}

const malformed = () => new KeyProviderError('Azure Key Vault gave an unexpected answer');

/**
 * The error's code (such as Forbidden or KeyNotFound), status or name, since messages may contain
 * addresses.
 */
function nameOf(error: unknown): string {
  const { code, statusCode, name } = Object(error) as Record<string, unknown>;
  for (const part of [code, statusCode, name]) {
    if (/^\w{1,60}$/.test(String(part ?? ''))) return String(part);
  }
  return 'an unknown error';
}
