/**
 * Reads the form of a verification request (specification 3, section 2): a package or its address,
 * and optionally an anchor. Errors have the form of specification 3.
 */
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
  if (hasManyParts(body, contentType)) throw unreadable;
  try {
    return await new Response(body, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw unreadable;
  }
}

/**
 * Three fields are known; parsing each part costs more than its bytes, on the thread that serves
 * everyone.
 */
const MAX_PARTS = 16;

/** Whether the form has more parts than any valid request; false without a boundary. */
function hasManyParts(body: Uint8Array, contentType: string): boolean {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) return true;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let parts = 0;
  for (let at = bytes.indexOf(delimiter); at >= 0; at = bytes.indexOf(delimiter, at + 1)) {
    if (++parts > MAX_PARTS) return true;
  }
  return false;
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
