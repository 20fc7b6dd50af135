/** Vault's transit engine as far as the provider uses it: AEAD keys, tokens, its wire format. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { readBody } from './read-body.ts';

export interface VaultDouble {
  listener: RequestListener;
  /** If set, every request is answered with this status. */
  failure: number | null;
}

export function createVaultDouble(token: string, keyNames: readonly string[]): VaultDouble {
  const keys = new Map(keyNames.map((name) => [name, randomBytes(32)]));
  const double: VaultDouble = {
    failure: null,
    listener: async (request, response) => {
      const answer = (status: number, body: object) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      };
      const body = JSON.parse((await readBody(request)).toString());
      if (double.failure !== null) return answer(double.failure, { errors: ['told to fail'] });
      if (request.headers['x-vault-token'] !== token) {
        return answer(403, { errors: ['permission denied'] });
      }
      const [, version, mount, operation, name = ''] = (request.url ?? '').split('/');
      const key = keys.get(name);
      if (request.method !== 'POST' || version !== 'v1' || mount !== 'transit' || !key) {
        return answer(404, { errors: [] });
      }
      const associated = Buffer.from(body.associated_data, 'base64');
      if (operation === 'encrypt') {
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associated);
        const text = Buffer.concat([
          cipher.update(Buffer.from(body.plaintext, 'base64')),
          cipher.final(),
        ]);
        const bytes = Buffer.concat([nonce, cipher.getAuthTag(), text]);
        return answer(200, { data: { ciphertext: `vault:v1:${bytes.toString('base64')}` } });
      }
      try {
        const bytes = Buffer.from(body.ciphertext.replace(/^vault:v1:/, ''), 'base64');
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
        decipher.setAAD(associated).setAuthTag(bytes.subarray(12, 28));
        const text = Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
        return answer(200, { data: { plaintext: text.toString('base64') } });
      } catch {
        return answer(400, { errors: ['cipher: message authentication failed'] });
      }
    },
  };
  return double;
}
