/**
 * Google Cloud KMS through its SDK, over HTTP. The SDK finds its credentials as in every Google
 * Cloud program. The context is sent as additional authenticated data, and checksums detect
 * transmission errors.
 */

import { canonicalize } from '@governance/shared/json/canonical-json';
import { inTime } from '@governance/shared/time/in-time';
import { crc32c } from './crc32c.ts';
import {
  type KeyContext,
  type KeyProvider,
  KeyProviderError,
  MAX_ANSWER_BYTES,
} from './key-provider.ts';
import { loadSdk } from './load-sdk.ts';

export interface GcpOptions {
  /** Another host of Cloud KMS, with or without a port. */
  endpoint?: string | undefined;
  /** SERVICE_KMS_LIBRARIES. */
  libraries?: string | undefined;
  /** Further settings of the SDK, which override the endpoint. */
  client?: Record<string, unknown>;
}

/** The part of `@google-cloud/kms` that is used. */
interface GcpSdk {
  KeyManagementServiceClient: new (options: object) => GcpClient;
}
interface GcpClient {
  initialize(): Promise<unknown>;
  encrypt(request: object, options: object): Promise<[EncryptResponse, ...unknown[]]>;
  decrypt(request: object, options: object): Promise<[DecryptResponse, ...unknown[]]>;
}
/** 64-bit numbers arrive as text or as objects of a library; only their digits are read. */
interface Checksum {
  value?: unknown;
}
interface EncryptResponse {
  ciphertext?: Uint8Array | string | null;
  ciphertextCrc32c?: Checksum | null;
  verifiedPlaintextCrc32c?: boolean | null;
  verifiedAdditionalAuthenticatedDataCrc32c?: boolean | null;
}
interface DecryptResponse {
  plaintext?: Uint8Array | string | null;
  plaintextCrc32c?: Checksum | null;
}

const PACKAGE = '@google-cloud/kms';
const KEY_ID =
  /^projects\/[a-z0-9][a-z0-9.:-]{0,62}\/locations\/[a-z0-9-]{1,40}\/keyRings\/[\w-]{1,63}\/cryptoKeys\/[\w-]{1,63}$/;
const TIMEOUT_MS = 10_000;

export function createGcpProvider({ endpoint, libraries, client: given }: GcpOptions): KeyProvider {
  let client: Promise<GcpClient> | undefined;

  async function load(): Promise<GcpClient> {
    const { KeyManagementServiceClient } = await loadSdk<GcpSdk>(PACKAGE, libraries);
    const made = new KeyManagementServiceClient({
      ...(endpoint !== undefined && placeOf(endpoint)),
      ...given,
      // HTTP instead of gRPC: no permanent channel, and proxies support it.
      fallback: true,
      // `size` and not `maxContentLength`, which counts as an option of a single request only.
      clientOptions: { transporterOptions: { size: MAX_ANSWER_BYTES } },
    });
    // Finds the credentials. Each call does so otherwise, and the SDK leaves that failure unhandled
    // beside the call's own, which ends the process.
    await withTimeout(made.initialize());
    return made;
  }

  async function ask<T>(
    keyId: string,
    request: (client: GcpClient, options: object) => Promise<[T, ...unknown[]]>,
  ): Promise<T> {
    const fault = findKeyIdFault(keyId);
    if (fault !== null) throw new KeyProviderError(`kms_key_id ${fault}`);
    client ??= load();
    // Loaded again at the next call after a failure, for example without credentials.
    client.catch(() => (client = undefined));
    try {
      const answering = request(await client, { timeout: TIMEOUT_MS });
      return (await withTimeout(answering))[0];
    } catch (cause) {
      if (cause instanceof KeyProviderError) throw cause;
      throw new KeyProviderError(`Cloud KMS answered with ${nameOf(cause)}`, { cause });
    }
  }

  return {
    wrap: async (name, plaintext, context) => {
      const data = dataOf(context);
      const answer = await ask(name, (kms, options) =>
        kms.encrypt(
          {
            name,
            plaintext,
            plaintextCrc32c: { value: crc32c(plaintext) },
            additionalAuthenticatedData: data,
            additionalAuthenticatedDataCrc32c: { value: crc32c(data) },
          },
          options,
        ),
      );
      const isVerified =
        answer.verifiedPlaintextCrc32c === true &&
        answer.verifiedAdditionalAuthenticatedDataCrc32c === true;
      if (!isVerified) throw new KeyProviderError('Cloud KMS received other bytes than were sent');
      return bytesOf(answer.ciphertext, answer.ciphertextCrc32c);
    },
    unwrap: async (name, ciphertext, context) => {
      const data = dataOf(context);
      const answer = await ask(name, (kms, options) =>
        kms.decrypt(
          {
            name,
            ciphertext,
            ciphertextCrc32c: { value: crc32c(ciphertext) },
            additionalAuthenticatedData: data,
            additionalAuthenticatedDataCrc32c: { value: crc32c(data) },
          },
          options,
        ),
      );
      return bytesOf(answer.plaintext, answer.plaintextCrc32c);
    },
    findKeyIdFault,
  };
}

function findKeyIdFault(keyId: string | null): string | null {
  if (keyId !== null && KEY_ID.test(keyId)) return null;
  return 'must be projects/…/locations/…/keyRings/…/cryptoKeys/…, without a version';
}

function placeOf(endpoint: string): { apiEndpoint: string; port?: number } {
  const [host = '', port] = endpoint.split(':');
  return { apiEndpoint: host, ...(port !== undefined && { port: Number(port) }) };
}

function dataOf(context: KeyContext): Buffer {
  return Buffer.from(canonicalize(context));
}

function bytesOf(
  given: Uint8Array | string | null | undefined,
  checksum: Checksum | null | undefined,
): Buffer {
  const bytes = typeof given === 'string' ? Buffer.from(given, 'base64') : Buffer.from(given ?? '');
  if (bytes.length === 0) throw new KeyProviderError('Cloud KMS gave an empty answer');
  const isWhole =
    bytes.length <= MAX_ANSWER_BYTES && String(checksum?.value) === `${crc32c(bytes)}`;
  if (!isWhole) throw new KeyProviderError('the answer of Cloud KMS was corrupted on its way');
  return bytes;
}

/** Limits all attempts together, since the SDK's timeout applies to a single attempt. */
const withTimeout = <T>(answering: Promise<T>): Promise<T> =>
  inTime(answering, TIMEOUT_MS, () => {
    throw new KeyProviderError('Cloud KMS did not answer');
  });

/** The HTTP status or the connection's error code, since messages may contain names of keys. */
function nameOf(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  if (/^\w{1,60}$/.test(String(code ?? ''))) return String(code);
  return error instanceof Error ? error.name : 'an unknown error';
}
