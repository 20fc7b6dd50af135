/** AWS KMS through its SDK, which finds its credentials as in every AWS program. */
import { Readable } from 'node:stream';
import {
  type KeyContext,
  type KeyProvider,
  KeyProviderError,
  MAX_ANSWER_BYTES,
} from './key-provider.ts';
import { loadSdk } from './load-sdk.ts';

export interface AwsOptions {
  /** The region of keys not named by an ARN; AWS_REGION unless given. */
  region?: string | undefined;
  /** Further settings of the SDK; those set here override them. */
  client?: Record<string, unknown>;
  /** How long an answer may take, with all attempts; 10 s unless given. */
  timeoutMs?: number;
}

/** The part of `@aws-sdk/client-kms` that is used. */
interface AwsSdk {
  KMSClient: new (
    options: object,
  ) => {
    middlewareStack: { add(middleware: Middleware, options: object): void };
    send(
      command: object,
      options: { abortSignal: AbortSignal },
    ): Promise<{ CiphertextBlob?: Uint8Array; Plaintext?: Uint8Array }>;
  };
  EncryptCommand: new (input: object) => object;
  DecryptCommand: new (input: object) => object;
}
/** Wraps what sends a request. */
type Middleware = (next: Send) => Send;
type Send = (args: unknown) => Promise<{ response: { body?: unknown } }>;
type AwsClient = InstanceType<AwsSdk['KMSClient']>;

const PACKAGE = '@aws-sdk/client-kms';
const KEY_ID =
  /^(?:arn:aws[a-z-]{0,20}:kms:(?<region>[a-z0-9-]{1,30}):[0-9]{12}:)?(?:(?:key\/)?[A-Za-z0-9-]{1,64}|alias\/[A-Za-z0-9/_-]{1,256})$/;
const TIMEOUT_MS = 10_000;
const CONNECTING = { connectionTimeout: 5_000 };

export function createAwsProvider(options: AwsOptions): KeyProvider {
  let sdk: Promise<AwsSdk> | undefined;
  const clients = new Map<string, AwsClient>();

  async function send(kind: 'EncryptCommand' | 'DecryptCommand', input: { KeyId: string }) {
    const fault = findKeyIdFault(input.KeyId);
    if (fault !== null) throw new KeyProviderError(`kms_key_id ${fault}`);
    sdk ??= loadSdk<AwsSdk>(PACKAGE);
    const { KMSClient, ...commands } = await sdk;
    const region = KEY_ID.exec(input.KeyId)?.groups?.region ?? options.region ?? '';
    let client = clients.get(region);
    if (!client) {
      client = new KMSClient({
        ...options.client,
        ...(region !== '' && { region }),
        maxAttempts: 3,
        requestHandler: CONNECTING,
      });
      // Innermost, where the answer is not read yet.
      client.middlewareStack.add(shortAnswers, { step: 'deserialize', priority: 'low' });
      if (clients.size < MAX_REGIONS) clients.set(region, client);
    }
    // The SDK's own request time-out only warns.
    const abortSignal = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
    try {
      return await client.send(new commands[kind](input), { abortSignal });
    } catch (cause) {
      if (abortSignal.aborted) {
        throw new KeyProviderError('AWS KMS did not answer in time', { cause });
      }
      // Only the error's name is shown (such as AccessDeniedException), since messages may contain
      // ARNs.
      const name = cause instanceof Error ? cause.name : 'an unknown error';
      throw new KeyProviderError(`AWS KMS answered with ${name}`, { cause });
    }
  }

  const bytesOf = (bytes: Uint8Array | undefined) => {
    if (!bytes || bytes.length === 0) throw new KeyProviderError('AWS KMS gave an empty answer');
    return Buffer.from(bytes);
  };

  return {
    wrap: async (KeyId, Plaintext, context) => {
      const input = { KeyId, Plaintext, EncryptionContext: contextOf(context) };
      return bytesOf((await send('EncryptCommand', input)).CiphertextBlob);
    },
    unwrap: async (KeyId, wrapped, context) => {
      const input = { KeyId, CiphertextBlob: wrapped, EncryptionContext: contextOf(context) };
      return bytesOf((await send('DecryptCommand', input)).Plaintext);
    },
    findKeyIdFault,
  };
}

const shortAnswers: Middleware = (next) => async (args) => {
  const answer = await next(args);
  const { response } = answer;
  if (response.body instanceof Readable) response.body = Readable.from(shortened(response.body));
  return answer;
};

async function* shortened(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let read = 0;
  for await (const part of parts) {
    read += part.length;
    if (read > MAX_ANSWER_BYTES) throw new KeyProviderError('AWS KMS gave an unexpected answer');
    yield part;
  }
}

/** The limit of cached clients: the region comes from a tenant's key ARN. */
const MAX_REGIONS = 50;

function contextOf({ tenant_id, purpose }: KeyContext) {
  return { tenant_id, purpose };
}

function findKeyIdFault(keyId: string | null): string | null {
  return keyId !== null && KEY_ID.test(keyId) ? null : 'must be the id, ARN or alias of a KMS key';
}
