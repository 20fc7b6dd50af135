/**
 * Reads the form of a verification request (specification 3, section 2): a package or its address,
 * and optionally an anchor. Errors have the form of specification 3.
 */
import { randomUUID } from 'node:crypto';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { ZodError } from 'zod';
import { MAX_ANCHOR_LENGTH, parseTrustAnchor } from './trust.ts';

type FormValue = File | string;

/** One of `detail`. */
export interface ValidationProblem {
  loc: (string | number)[];
  msg: string;
  type: string;
  ctx?: Record<string, unknown>;
}

/** A request that gets a 422. */
export class FormInvalid extends Error {
  readonly detail: ValidationProblem[];

  constructor(...detail: ValidationProblem[]) {
    super('the request is not valid');
    this.name = 'FormInvalid';
    this.detail = detail;
  }
}

export interface VerificationForm {
  /** Exactly one of the two. */
  package?: Uint8Array;
  packageUrl?: string;
  anchor: TrustAnchor | null;
}

/**
 * @param body the bytes of the request, caller-controlled
 * @param takesUrl whether `package_url` is a field of the route
 * @throws FormInvalid
 */
export async function readForm(
  body: Uint8Array,
  contentType: string | undefined,
  takesUrl: boolean,
): Promise<VerificationForm> {
  const fields = await parseForm(body, contentType);
  const file = single(fields, 'package');
  const url = single(fields, 'package_url');
  if (url !== undefined && !takesUrl) {
    throw problem('package_url', 'is not accepted by this route', 'extra_forbidden');
  }
  if (typeof file === 'string') {
    throw problem('package', 'must be a file', 'file_expected');
  }
  if (url !== undefined && typeof url !== 'string') {
    throw problem('package_url', 'must be a text', 'string_type');
  }
  const anchor = await readAnchor(single(fields, 'trust_anchor'));
  if (file && url) {
    throw problem('package_url', 'package and package_url exclude each other', 'value_error');
  }
  if (file) return { package: new Uint8Array(await file.arrayBuffer()), anchor };
  if (url) return { packageUrl: url, anchor };
  throw problem(
    'package',
    takesUrl ? 'package or package_url is required' : 'package is required',
    'missing',
  );
}

/** An error of one form field. */
export const problem = (field: string, msg: string, type: string): FormInvalid =>
  new FormInvalid({ loc: ['body', field], msg, type });

async function parseForm(body: Uint8Array, contentType = ''): Promise<FormData> {
  const unreadable = new FormInvalid({
    loc: ['body'],
    msg: 'must be multipart/form-data',
    type: 'multipart_invalid',
  });
  if (!/^multipart\/form-data\s*;/i.test(contentType)) throw unreadable;
  const parts = redelimited(body, contentType);
  if (parts === null) throw unreadable;
  const headers = { 'content-type': `multipart/form-data; boundary=${parts.boundary}` };
  try {
    return await new Response(parts.body, { headers }).formData();
  } catch {
    throw unreadable;
  }
}

/**
 * Three fields are known; parsing each part costs more than its bytes, on the thread that serves
 * everyone.
 */
const MAX_PARTS = 16;

/**
 * The form with a boundary of our own, and without what stands before its first part: the platform's
 * parser looks for the boundary alone, and a short one may also occur in a package (RFC 2046, 5.1.1).
 *
 * @returns null without a boundary, and with more parts than any valid request
 */
function redelimited(
  body: Uint8Array,
  contentType: string,
): { body: Uint8Array<ArrayBuffer>; boundary: string } | null {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType) ?? [];
  const given = quoted ?? plain;
  if (given === undefined) return null;
  const boundary = randomUUID();
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = Buffer.from(`\r\n--${given}`);
  // At the very beginning there is no line end before it.
  const isFirst = bytes.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2));
  const begin = isFirst ? -2 : bytes.indexOf(delimiter);
  if (begin === -1) return null;
  const pieces: Uint8Array[] = [Buffer.from(`--${boundary}`)];
  let from = begin + delimiter.length;
  for (let at = bytes.indexOf(delimiter, from); at >= 0; at = bytes.indexOf(delimiter, from)) {
    if (pieces.length > 2 * MAX_PARTS) return null;
    pieces.push(bytes.subarray(from, at), Buffer.from(`\r\n--${boundary}`));
    from = at + delimiter.length;
  }
  pieces.push(bytes.subarray(from));
  return { body: Buffer.concat(pieces), boundary };
}

/** A browser sends an empty text for a field left empty. */
function single(fields: FormData, name: string): FormValue | undefined {
  const [value, ...more] = fields.getAll(name);
  if (more.length > 0) throw problem(name, 'must be there once', 'value_error');
  return value === '' ? undefined : value;
}

async function readAnchor(value: FormValue | undefined): Promise<TrustAnchor | null> {
  if (value === undefined) return null;
  if (typeof value !== 'string' && value.size > MAX_ANCHOR_LENGTH) {
    throw problem('trust_anchor', 'is too large', 'too_long');
  }
  const text = typeof value === 'string' ? value : await value.text();
  if (text === '') return null;
  try {
    return parseTrustAnchor(text);
  } catch (error) {
    const [issue] = error instanceof ZodError ? error.issues : [];
    if (!issue) throw problem('trust_anchor', 'must be the JSON of a trust anchor', 'json_invalid');
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
    throw new FormInvalid({
      loc: ['body', 'trust_anchor', ...path],
      msg: 'does not have the format of a trust anchor',
      type: issue.code,
    });
  }
}
