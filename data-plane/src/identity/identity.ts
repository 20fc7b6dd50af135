/**
 * Who this data plane is: an Ed25519 key that signs its batches, an X25519 key that credentials
 * are sealed to, an RSA key that signs the agent tokens it issues, and what it learnt when it
 * registered with each tenant. The private keys never leave the data folder and have mode 0600. A
 * copied folder is the same writer twice, which the control plane sees as a fork.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RegistrationAnswer, type RegistrationRequest } from '@governance/shared/channel/channels';
import { isUuid } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { SEALING } from '@governance/shared/mcp/upstream-credential';
import { writeFileDurably } from '@governance/shared/process/durable-file';
import { StartError } from '@governance/shared/process/start-error';
import { CompactEncrypt } from 'jose';
import { openJwe } from './open-jwe.ts';
import {
  finishRotation,
  listEarlierTokenKeys,
  readEarlierSealingKeys,
  readTaskSecret,
  requireUnrevoked,
  SEALING_KEY_FILE,
  TOKEN_KEY_FILE,
} from './own-key-rotation.ts';
import { generateKey, type PrivateKeyType, readPrivateKey, toPem } from './private-key-file.ts';

/** How a data plane describes itself. */
export interface AboutPlane {
  region: string | null;
  version: string;
  label: string;
}

export type DataPlaneIdentity = ReturnType<typeof loadIdentity>;

/**
 * Makes the key of agents' tokens if there is none. Several processes use one: it has to be there
 * before they start.
 *
 * @param dataDir SERVICE_DATA_DIR
 * @throws StartError where the key was revoked, or its file holds none
 */
export function ensureTokenKey(dataDir: string): KeyObject {
  const folder = join(dataDir, 'identity');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  finishRotation(folder);
  const key = loadKey(join(folder, TOKEN_KEY_FILE), 'rsa');
  requireUnrevoked(folder, key);
  return key;
}

/** Whether the data plane of a folder has registered with a tenant. */
export function hasRegistered(dataDir: string, tenantId: string): boolean {
  return existsSync(registrationFile(join(dataDir, 'identity', 'registrations'), tenantId));
}

function registrationFile(registrations: string, tenantId: string): string {
  if (!isUuid(tenantId)) throw new TypeError('a tenant id is a lower-case UUID');
  return join(registrations, `${tenantId}.json`);
}

/**
 * Loads the identity from the data folder, or makes it at the first start.
 *
 * @param sharedDir the folder with the key of agents' tokens, where that is another one
 * @param onUnreadable called with each earlier sealing key that cannot be read: what was sealed to
 *   it cannot be opened, and everything else works
 */
export function loadIdentity(
  dataDir: string,
  sharedDir = dataDir,
  onUnreadable: (failure: unknown) => void = () => undefined,
) {
  const folder = join(dataDir, 'identity');
  const registrations = join(folder, 'registrations');
  mkdirSync(registrations, { recursive: true, mode: 0o700 });
  const signingKey = loadKey(join(folder, 'signing-key.pem'), 'ed25519');
  const sealingKey = loadKey(join(folder, SEALING_KEY_FILE), 'x25519');
  const earlierSealingKeys = readEarlierSealingKeys(folder, onUnreadable);
  const tokenKey = ensureTokenKey(sharedDir);
  const shared = join(sharedDir, 'identity');
  const openSealed = (jwe: string): string => openAny(jwe, [sealingKey, ...earlierSealingKeys]);

  const fileOf = (tenantId: string) => registrationFile(registrations, tenantId);

  function findRegistration(tenantId: string): RegistrationAnswer | undefined {
    const file = fileOf(tenantId);
    if (!existsSync(file)) return undefined;
    try {
      return RegistrationAnswer.parse(JSON.parse(readFileSync(file, 'utf8')));
    } catch (cause) {
      throw new StartError(
        `${file} cannot be read: put back what was in it, from a backup; without the file this data plane trusts the keys of the control plane's next answer`,
        { cause },
      );
    }
  }

  return {
    /** The Ed25519 private key. */
    signingKey,
    /** The RSA private key (2048 bits) of the agent tokens that this plane issues. */
    tokenKey,
    /** Previous keys whose tokens are still valid. */
    earlierTokenKeys: listEarlierTokenKeys(shared, tokenKey),
    /** The secret that handles of lists and tasks are bound to. */
    taskSecret: readTaskSecret(shared, tokenKey),
    /** What this plane sends when it registers. */
    registrationRequest: (about: AboutPlane): RegistrationRequest => ({
      signing_key: publicJwk(signingKey) as RegistrationRequest['signing_key'],
      sealing_key: publicJwk(sealingKey) as RegistrationRequest['sealing_key'],
      token_key: publicJwk(tokenKey) as RegistrationRequest['token_key'],
      ...about,
    }),
    /**
     * The answer to a tenant's registration; undefined before the first.
     *
     * @throws StartError when its file cannot be read
     */
    findRegistration,
    listRegistrations: (): RegistrationAnswer[] =>
      readdirSync(registrations)
        // Somebody's copy of one, beside them, is none.
        .filter((file) => file.endsWith('.json') && isUuid(file.slice(0, -'.json'.length)))
        .map((file) => findRegistration(file.slice(0, -'.json'.length)))
        .filter((answer) => answer !== undefined),
    /** Keeps the answer durably. @throws Error when the tenant knew this plane by another id */
    saveRegistration: (answer: RegistrationAnswer): void => {
      const known = findRegistration(answer.tenant_id);
      if (known && known.deployment_id !== answer.deployment_id) {
        throw new Error('the tenant knew this data plane by another deployment id');
      }
      // Unchanged: write nothing, since the disk may be full.
      if (known && canonicalize(known) === canonicalize(answer)) return;
      writeFileDurably(fileOf(answer.tenant_id), `${JSON.stringify(answer, null, 2)}\n`);
    },
    /**
     * Opens a credential that was sealed to this plane.
     *
     * @param jwe compact, ECDH-ES on X25519 with A256GCM
     * @throws when it was sealed to another key, changed on its way, or is not such a JWE
     */
    openSealed: async (jwe: string): Promise<string> => openSealed(jwe),
    /** The synchronous variant, for look-ups within a call. */
    openSealedNow: openSealed,
    /** Seals what only this plane can open again. */
    sealOwn: (text: string): Promise<string> =>
      new CompactEncrypt(Buffer.from(text))
        .setProtectedHeader(SEALING)
        .encrypt(createPublicKey(sealingKey)),
  };
}

/** What was sealed to an earlier key can still be opened. */
function openAny(jwe: string, keys: readonly KeyObject[]): string {
  let failure: unknown;
  for (const key of keys) {
    try {
      return openJwe(jwe, key);
    } catch (error) {
      // It may be sealed to an earlier key; the error of the current key is reported.
      failure ??= error;
    }
  }
  throw failure;
}

function loadKey(file: string, type: PrivateKeyType): KeyObject {
  if (!existsSync(file)) writeFileDurably(file, toPem(generateKey(type)));
  chmodSync(file, 0o600);
  return readPrivateKey(file, type);
}

function publicJwk(key: KeyObject) {
  return createPublicKey(key).export({ format: 'jwk' });
}
