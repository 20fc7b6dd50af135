/**
 * Signatures of bundles as OPA makes and checks them (v1/bundle/hash.go, sign.go, verify.go):
 * `.signatures.json` holds exactly one JWT whose claims list every other file with its hash. Used
 * by the control plane to sign and by data planes to verify. Proven by bundle-signature.test.ts,
 * on a signature that `opa sign` made too.
 */

import { hash, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { CodedError } from '../coded-error.ts';
import { opaHashForm } from '../json/opa-json.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { type PublicJwk, readPublicJwk } from '../keys/public-jwk.ts';
import { BUNDLE_LIMITS, BUNDLE_MEMBERS } from './bundle-format.ts';

export const BundleSignatureAlgorithm = z.enum(['ES256', 'RS256']);
export type BundleSignatureAlgorithm = z.infer<typeof BundleSignatureAlgorithm>;

/** A public key that may sign bundles: a JWK with its id and its only algorithm. */
export type BundleVerificationKey = PublicJwk & { kid: string; alg: string };

export type BundleSignatureFault =
  | 'signature_missing'
  | 'signature_stripped'
  | 'signature_malformed'
  | 'key_unknown'
  | 'signature_invalid'
  | 'scope_mismatch'
  | 'file_unsigned'
  | 'file_missing'
  | 'digest_mismatch';

/** A bundle whose signature is invalid; `code` says why. */
export class BundleSignatureError extends CodedError<BundleSignatureFault> {}

const SignaturesFile = z.strictObject({ signatures: z.array(z.string()).max(1) });

const Header = z.looseObject({ alg: z.string(), kid: z.string().optional() });

const Claims = z.looseObject({
  files: z.array(z.object({ name: z.string(), hash: z.string(), algorithm: z.literal('SHA-256') })),
  keyid: z.string().optional(),
  scope: z.string(),
});

/** Files whose JSON is hashed by meaning, not by bytes: white space does not matter there. */
function isStructured(name: string): boolean {
  const base = name.slice(name.lastIndexOf('/') + 1);
  return base === BUNDLE_MEMBERS.data || base === BUNDLE_MEMBERS.manifest;
}

/**
 * The hash of a bundle's file as OPA's signatures list it.
 *
 * @param name path in the bundle, without a leading slash
 * @param bytes the file's content
 * @returns SHA-256, lower-case hexadecimal
 * @throws SyntaxError when a structured file is no unambiguous JSON
 */
export function hashBundleFile(name: string, bytes: Uint8Array): string {
  if (!isStructured(name)) return hash('sha256', bytes, 'hex');
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  return hash('sha256', opaHashForm(text), 'hex');
}

/**
 * Signs a bundle's files.
 *
 * @param files every file of the bundle but `.signatures.json`, by its path without leading slash
 * @param signer the private key with the id that verifiers know it by, and the tenant's id as scope
 * @returns the content of `.signatures.json`
 */
export function signBundle(
  files: ReadonlyMap<string, Uint8Array>,
  signer: { kid: string; key: KeyObject; alg: BundleSignatureAlgorithm; scope: string },
): Buffer {
  const listed = [...files].map(([name, bytes]) => ({
    name,
    hash: hashBundleFile(name, bytes),
    algorithm: 'SHA-256',
  }));
  const header = { alg: signer.alg, kid: signer.kid, typ: 'JWT' };
  const claims = { files: listed, keyid: signer.kid, scope: signer.scope };
  const signed = `${base64url(header)}.${base64url(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), {
    key: signer.key,
    dsaEncoding: 'ieee-p1363',
  });
  const token = `${signed}.${signature.toString('base64url')}`;
  return Buffer.from(JSON.stringify({ signatures: [token] }));
}

/**
 * Verifies that exactly these files were signed for this scope by one of these keys.
 *
 * @param signatures the content of `.signatures.json`, undefined where the bundle has none
 * @param files every other file of the bundle
 * @param trust the keys that may sign, and the scope that the signature must name
 * @returns the id of the key that signed
 * @throws BundleSignatureError naming the first thing that is wrong
 */
export function verifyBundleSignatures(
  signatures: Uint8Array | undefined,
  files: ReadonlyMap<string, Uint8Array>,
  trust: { keys: readonly BundleVerificationKey[]; scope: string },
): string {
  if (!signatures) throw new BundleSignatureError('signature_missing', 'no .signatures.json');
  const { header, claims, signed, signature } = parseToken(signatures);
  const kid = header.kid ?? claims.keyid;
  const key = trust.keys.find((candidate) => candidate.kid === kid);
  if (!key) throw new BundleSignatureError('key_unknown', 'no trusted key has the id it names');
  // The algorithm is the key's, never the token's choice (RFC 8725 section 3.1).
  if (header.alg !== key.alg || !isSignedBy(key, signed, signature)) {
    throw new BundleSignatureError('signature_invalid', 'the signature does not verify');
  }
  if (claims.scope !== trust.scope) {
    throw new BundleSignatureError('scope_mismatch', 'the bundle was signed for another scope');
  }
  verifyFiles(claims.files, files);
  return key.kid;
}

/**
 * Verifies that a bundle's manifest was signed for a scope, from these two members alone.
 *
 * @param signatures the content of `.signatures.json`
 * @param manifest the content of `.manifest`
 * @returns the id of the key that signed
 * @throws BundleSignatureError naming the first thing that is wrong
 */
export function readBundleSignature(
  signatures: Uint8Array,
  manifest: Uint8Array,
  trust: { scope: string; findKey(kid: string): { kty: string; alg?: unknown } | undefined },
): { kid: string } {
  const { header, claims, signed, signature } = parseToken(signatures);
  const kid = header.kid ?? claims.keyid ?? '';
  const key = trust.findKey(kid);
  if (!key) throw new BundleSignatureError('key_unknown', 'no trusted key has the id it names');
  // A JWK need not name its algorithm; the kind of key determines it.
  const usualAlg = key.kty === 'EC' ? 'ES256' : 'RS256';
  const alg = typeof key.alg === 'string' ? key.alg : usualAlg;
  if (header.alg !== alg || !isSignedBy({ ...key, kid, alg }, signed, signature)) {
    throw new BundleSignatureError('signature_invalid', 'the signature does not verify');
  }
  if (claims.scope !== trust.scope) {
    throw new BundleSignatureError('scope_mismatch', 'the bundle was signed for another scope');
  }
  const listed = claims.files.filter(({ name }) => name === BUNDLE_MEMBERS.manifest);
  const [file] = listed;
  if (!file || listed.length > 1) {
    throw new BundleSignatureError('file_unsigned', 'the manifest is not listed once');
  }
  if (digestOf(BUNDLE_MEMBERS.manifest, manifest) !== file.hash) {
    throw new BundleSignatureError('digest_mismatch', 'the manifest is not what was signed');
  }
  return { kid };
}

function verifyFiles(
  listed: { name: string; hash: string }[],
  files: ReadonlyMap<string, Uint8Array>,
): void {
  const remaining = new Map(listed.map((file) => [file.name, file.hash]));
  if (remaining.size !== listed.length) {
    throw new BundleSignatureError('signature_malformed', 'a file is listed twice');
  }
  for (const [name, bytes] of files) {
    const expected = remaining.get(name);
    if (expected === undefined) {
      throw new BundleSignatureError('file_unsigned', `${name} is not listed in the signature`);
    }
    if (digestOf(name, bytes) !== expected) {
      throw new BundleSignatureError('digest_mismatch', `${name} is not what was signed`);
    }
    remaining.delete(name);
  }
  const [missing] = remaining.keys();
  if (missing !== undefined) {
    throw new BundleSignatureError('file_missing', `${missing} was signed and is not there`);
  }
}

function digestOf(name: string, bytes: Uint8Array): string {
  try {
    return hashBundleFile(name, bytes);
  } catch (error) {
    throw new BundleSignatureError('digest_mismatch', `${name} is no JSON`, { cause: error });
  }
}

/** Limit of `.signatures.json`; a bundle of the most members needs half of it. */
const MAX_SIGNATURES_BYTES = 1024 * 1024;
/** Values and keys of the file and of a token's header, and of a token's claims. */
const MAX_NODES = 100;
const MAX_CLAIMS_NODES = MAX_NODES + 10 * BUNDLE_LIMITS.members;

function parseJson(bytes: Uint8Array, maxNodes: number): unknown {
  return parseStrictJson(bytes, { maxDepth: 8, maxNodes, numbers: 'any' });
}

function parseToken(signatures: Uint8Array) {
  try {
    if (signatures.byteLength > MAX_SIGNATURES_BYTES) throw new TypeError('it is too large');
    const file = SignaturesFile.parse(parseJson(signatures, MAX_NODES));
    const [header, claims, signature, ...rest] = (file.signatures[0] ?? '..').split('.');
    // RFC 7515's "unsecured" form, or nothing at all, in place of a signature.
    if (signature === '' && rest.length === 0) {
      throw new BundleSignatureError('signature_stripped', 'the signature was taken out');
    }
    if (!header || !claims || !signature || rest.length > 0) throw new TypeError('no compact JWT');
    return {
      header: Header.parse(parseJson(fromBase64url(header), MAX_NODES)),
      claims: Claims.parse(parseJson(fromBase64url(claims), MAX_CLAIMS_NODES)),
      signed: `${header}.${claims}`,
      signature: fromBase64url(signature),
    };
  } catch (error) {
    if (error instanceof BundleSignatureError) throw error;
    throw new BundleSignatureError('signature_malformed', '.signatures.json is malformed', {
      cause: error,
    });
  }
}

/** RFC 7515 section 2: any other spelling of the same bytes is invalid. */
function fromBase64url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new TypeError('it is no base64url');
  return bytes;
}

function isSignedBy(jwk: BundleVerificationKey, signed: string, signature: Buffer): boolean {
  try {
    const key = readPublicJwk(jwk);
    const alg = BundleSignatureAlgorithm.parse(jwk.alg);
    if (key.asymmetricKeyType !== (alg === 'ES256' ? 'ec' : 'rsa')) return false;
    return verify('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, signature);
  } catch {
    return false;
  }
}

function base64url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
