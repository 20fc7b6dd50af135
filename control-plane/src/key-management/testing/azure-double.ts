/**
 * Key Vault as far as the provider uses it: the bearer challenge, versions of keys, `wrapkey` and
 * `unwrapkey` with RSA-OAEP-256; and the endpoint at which a managed identity gets its token.
 */
import {
  constants,
  generateKeyPairSync,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from 'node:crypto';
import type { RequestListener } from 'node:http';
import { readBody } from './read-body.ts';

export interface AzureDouble {
  listener: RequestListener;
  /** The secret that requests to the identity's endpoint must have. */
  identitySecret: string;
  /** A credential of the SDK with the token that its identity's endpoint gives. */
  credential: object;
  /** Makes another version of a key the newest. */
  rotate(name: string): void;
  /** If set, replaces successful answers. */
  change: ((answer: Record<string, unknown>) => unknown) | null;
}

const RESOURCE = 'https://vault.azure.net';
const OAEP = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' } as const;

export function createAzureDouble(keyNames: readonly string[]): AzureDouble {
  const token = randomBytes(24).toString('base64url');
  const identitySecret = randomBytes(16).toString('hex');
  const newVersion = () => ({
    version: randomBytes(16).toString('hex'),
    ...generateKeyPairSync('rsa', { modulusLength: 2048 }),
  });
  const keys = new Map(keyNames.map((name) => [name, [newVersion()]]));
  const double: AzureDouble = {
    change: null,
    identitySecret,
    credential: {
      getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 86_400_000 }),
    },
    rotate: (name) => void keys.get(name)?.push(newVersion()),
    listener: async (request, response) => {
      const body = (await readBody(request)).toString();
      const url = new URL(request.url ?? '', `http://${request.headers.host}`);
      const say = (status: number, content: unknown, headers: Record<string, string> = {}) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(typeof content === 'string' ? content : JSON.stringify(content));
      };
      const refuse = (status: number, code: string, headers = {}) =>
        say(status, { error: { code, message: `${code}: told of no key` } }, headers);
      if (url.pathname === '/identity') {
        const isAllowed =
          request.headers['x-identity-header'] === identitySecret &&
          url.searchParams.get('resource') === RESOURCE;
        if (!isAllowed) return refuse(401, 'Unauthorized');
        const expires_on = String(Math.floor(Date.now() / 1000) + 86_400);
        return say(200, {
          access_token: token,
          expires_on,
          resource: RESOURCE,
          token_type: 'Bearer',
        });
      }
      if (request.headers.authorization !== `Bearer ${token}`) {
        const authority = 'https://login.microsoftonline.com/22222222-2222-2222-2222-222222222222';
        const challenge = `Bearer authorization="${authority}", resource="${RESOURCE}"`;
        return refuse(401, 'Unauthorized', { 'www-authenticate': challenge });
      }
      const [, collection, name = '', version, operation] = url.pathname.split('/');
      const versions = keys.get(name);
      if (collection !== 'keys' || !versions || !url.searchParams.has('api-version')) {
        return refuse(404, 'KeyNotFound');
      }
      const key = version ? versions.find((one) => one.version === version) : versions.at(-1);
      if (!key) return refuse(404, 'KeyNotFound');
      const kid = `${url.origin}/keys/${name}/${key.version}`;
      const answer = (content: Record<string, unknown>) =>
        say(200, double.change?.(content) ?? content);
      if (request.method === 'GET' && !operation) {
        const jwk = key.publicKey.export({ format: 'jwk' });
        const key_ops = ['wrapKey', 'unwrapKey'];
        return answer({ key: { kid, ...jwk, key_ops }, attributes: { enabled: true } });
      }
      const { alg, value } = JSON.parse(body || '{}');
      if (request.method !== 'POST' || alg !== 'RSA-OAEP-256') return refuse(400, 'BadParameter');
      const bytes = Buffer.from(value, 'base64url');
      try {
        const result =
          operation === 'wrapkey'
            ? publicEncrypt({ key: key.publicKey, ...OAEP }, bytes)
            : privateDecrypt({ key: key.privateKey, ...OAEP }, bytes);
        return answer({ kid, value: result.toString('base64url') });
      } catch {
        return refuse(400, 'BadParameter');
      }
    },
  };
  return double;
}
