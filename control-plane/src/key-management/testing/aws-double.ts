/**
 * AWS KMS as far as the provider uses it: JSON 1.1, encryption contexts, and SigV4, which is
 * verified.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { readBody } from './read-body.ts';

export interface AwsAccount {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
}

export function createAwsDouble(account: AwsAccount, keyIds: readonly string[]): RequestListener {
  const keys = new Map(keyIds.map((id) => [id, randomBytes(32)]));
  return async (request, response) => {
    const body = await readBody(request);
    const answer = (status: number, content: object) => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(content));
    };
    const refuse = (type: string) => answer(400, { __type: type, message: type });
    if (!isSigned(request, body, account)) return refuse('InvalidSignatureException');
    const input = JSON.parse(body.toString());
    const key = keys.get(input.KeyId);
    if (!key) return refuse('NotFoundException');
    const context = Buffer.from(JSON.stringify(Object.entries(input.EncryptionContext).sort()));
    switch (request.headers['x-amz-target']) {
      case 'TrentService.Encrypt': {
        const nonce = randomBytes(12);
        const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(context);
        const text = Buffer.concat([
          cipher.update(Buffer.from(input.Plaintext, 'base64')),
          cipher.final(),
        ]);
        const blob = Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
        return answer(200, { KeyId: input.KeyId, CiphertextBlob: blob });
      }
      case 'TrentService.Decrypt':
        try {
          const blob = Buffer.from(input.CiphertextBlob, 'base64');
          const decipher = createDecipheriv('aes-256-gcm', key, blob.subarray(0, 12));
          decipher.setAAD(context).setAuthTag(blob.subarray(12, 28));
          const text = Buffer.concat([decipher.update(blob.subarray(28)), decipher.final()]);
          return answer(200, { KeyId: input.KeyId, Plaintext: text.toString('base64') });
        } catch {
          return refuse('InvalidCiphertextException');
        }
      default:
        return refuse('UnknownOperationException');
    }
  };
}

const hex = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: string | Buffer, text: string) =>
  createHmac('sha256', key).update(text).digest();

/** Verifies AWS Signature Version 4, by computing it again from the request. */
function isSigned(request: IncomingMessage, body: Buffer, account: AwsAccount): boolean {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/kms\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    );
  if (!found) return false;
  const [, id, day = '', region = '', signed = '', signature = ''] = found;
  if (id !== account.accessKeyId || region !== account.region) return false;
  const names = signed.split(';');
  if (!['host', 'x-amz-date', 'x-amz-target'].every((name) => names.includes(name))) return false;
  const headers = names.map((name) => `${name}:${String(request.headers[name]).trim()}\n`).join('');
  const canonical = [request.method, request.url, '', headers, signed, hex(body)].join('\n');
  const scope = `${day}/${region}/kms/aws4_request`;
  const time = String(request.headers['x-amz-date']);
  const text = ['AWS4-HMAC-SHA256', time, scope, hex(canonical)].join('\n');
  const dayKey = hmac(`AWS4${account.secretAccessKey}`, day);
  const key = hmac(hmac(hmac(dayKey, region), 'kms'), 'aws4_request');
  return timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'));
}
