/**
 * Cloud KMS as far as the provider uses it: JSON over HTTP, with checksums and self-signed tokens,
 * both verified.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  type KeyObject,
  randomBytes,
  verify,
} from 'node:crypto';
import type { RequestListener } from 'node:http';
import { crc32c } from '../crc32c.ts';
import { readBody } from './read-body.ts';

export interface GcpAccount {
  client_email: string;
  /** PEM. */
  private_key: string;
}

export interface GcpDouble {
  listener: RequestListener;
  /** If set, replaces successful answers. */
  change: ((answer: Record<string, unknown>) => unknown) | null;
}

const AUDIENCE = 'https://cloudkms.googleapis.com/';

export function createGcpDouble(account: GcpAccount, keyNames: readonly string[]): GcpDouble {
  const publicKey = createPublicKey(account.private_key);
  const keys = new Map(keyNames.map((name) => [name, randomBytes(32)]));
  const double: GcpDouble = {
    change: null,
    listener: async (request, response) => {
      const body = JSON.parse((await readBody(request)).toString() || '{}');
      const say = (status: number, content: unknown) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(typeof content === 'string' ? content : JSON.stringify(content));
      };
      const refuse = (code: number, status: string) =>
        say(code, { error: { code, status, message: 'told of no key' } });
      if (!isSigned(request.headers.authorization, account.client_email, publicKey)) {
        return refuse(401, 'UNAUTHENTICATED');
      }
      const [, name = '', operation] =
        /^\/v1\/(projects\/[^:?]+):(encrypt|decrypt)(?:\?|$)/.exec(request.url ?? '') ?? [];
      const key = keys.get(name);
      if (request.method !== 'POST' || !key) return refuse(404, 'NOT_FOUND');
      const given = (member: string) => Buffer.from(body[member] ?? '', 'base64');
      const isWhole = (member: string) => body[`${member}Crc32c`] === `${crc32c(given(member))}`;
      const data = given('additionalAuthenticatedData');
      const text = operation === 'encrypt' ? 'plaintext' : 'ciphertext';
      if (!isWhole(text) || !isWhole('additionalAuthenticatedData') || data.length === 0) {
        return refuse(400, 'INVALID_ARGUMENT');
      }
      const answer = (content: Record<string, unknown>) =>
        say(200, double.change?.(content) ?? content);
      if (operation === 'encrypt') {
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(data);
        const encrypted = Buffer.concat([cipher.update(given('plaintext')), cipher.final()]);
        const ciphertext = Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
        return answer({
          name: `${name}/cryptoKeyVersions/1`,
          ciphertext: ciphertext.toString('base64'),
          ciphertextCrc32c: `${crc32c(ciphertext)}`,
          verifiedPlaintextCrc32c: true,
          verifiedAdditionalAuthenticatedDataCrc32c: true,
          protectionLevel: 'SOFTWARE',
        });
      }
      try {
        const bytes = given('ciphertext');
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
        decipher.setAAD(data).setAuthTag(bytes.subarray(12, 28));
        const plaintext = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
        return answer({
          plaintext: plaintext.toString('base64'),
          plaintextCrc32c: `${crc32c(plaintext)}`,
          usedPrimary: true,
          protectionLevel: 'SOFTWARE',
        });
      } catch {
        return refuse(400, 'INVALID_ARGUMENT');
      }
    },
  };
  return double;
}

/** Verifies a token that a service account signed itself, for this service or its scope. */
function isSigned(authorization: string | undefined, account: string, key: KeyObject): boolean {
  const [, header = '', claims = '', signature = ''] =
    /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(authorization ?? '') ?? [];
  const isIts = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    key,
    Buffer.from(signature, 'base64url'),
  );
  if (!isIts) return false;
  const {
    iss,
    sub,
    aud,
    scope = '',
    exp,
  } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const isForUs = aud === AUDIENCE || /\/auth\/(?:cloud-platform|cloudkms)\b/.test(scope);
  return iss === account && sub === account && isForUs && exp * 1000 > Date.now();
}
