/**
 * Reads the form of a verification request (specification 3, section 2): a package or its address,
 * and optionally an anchor. Errors have the form of specification 3.
 */
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { ZodError } from 'zod';
import { type FormPart, parseMultipart } from './multipart.ts';
import { MAX_ANCHOR_LENGTH, parseTrustAnchor } from './trust.ts';

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
export function readForm(
  body: Uint8Array,
  contentType: string | undefined,
  takesUrl: boolean,
): VerificationForm {
  const parts = parseForm(body, contentType);
  const file = single(parts, 'package');
  const url = single(parts, 'package_url');
  if (url !== undefined && !takesUrl) {
    throw problem('package_url', 'is not accepted by this route', 'extra_forbidden');
  }
  if (file?.isFile === false) {
    throw problem('package', 'must be a file', 'file_expected');
  }
  if (url?.isFile) {
    throw problem('package_url', 'must be a text', 'string_type');
  }
  const anchor = readAnchor(single(parts, 'trust_anchor'));
  if (file && url) {
    throw problem('package_url', 'package and package_url exclude each other', 'value_error');
  }
  if (file) return { package: file.bytes, anchor };
  if (url) return { packageUrl: textOf(url.bytes), anchor };
  throw problem(
    'package',
    takesUrl ? 'package or package_url is required' : 'package is required',
    'missing',
  );
}

/** An error of one form field. */
export const problem = (field: string, msg: string, type: string): FormInvalid =>
  new FormInvalid({ loc: ['body', field], msg, type });

function parseForm(body: Uint8Array, contentType = ''): FormPart[] {
  const parts = parseMultipart(body, contentType);
  if (parts !== null) return parts;
  throw new FormInvalid({
    loc: ['body'],
    msg: 'must be multipart/form-data',
    type: 'multipart_invalid',
  });
}

/** A browser sends an empty text for a field left empty. */
function single(parts: FormPart[], name: string): FormPart | undefined {
  const [part, ...more] = parts.filter((one) => one.name === name);
  if (more.length > 0) throw problem(name, 'must be there once', 'value_error');
  return part?.isFile || part?.bytes.length ? part : undefined;
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function readAnchor(part: FormPart | undefined): TrustAnchor | null {
  if (part === undefined) return null;
  if (part.bytes.length > MAX_ANCHOR_LENGTH) {
    throw problem('trust_anchor', 'is too large', 'too_long');
  }
  const text = textOf(part.bytes);
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
