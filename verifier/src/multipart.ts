/**
 * Reads multipart/form-data (RFC 7578 and 2046, 5.1.1). The platform's parser refuses valid forms
 * and reads heads of parts of any length, on the thread that serves everyone. Here heads are
 * bounded, and everything is linear in what it reads. Proven by multipart.test.ts.
 */

export interface FormPart {
  name: string;
  /** Whether it has a file name. */
  isFile: boolean;
  bytes: Uint8Array;
}

/** Three fields are known. */
const MAX_PARTS = 16;
/** Bytes of the headers of a part. */
const MAX_HEAD = 16 * 1024;
const MAX_BOUNDARY = 200;

/**
 * @param body the bytes of the request, caller-controlled
 * @param contentType its header, caller-controlled
 * @returns the parts, which share the memory of the body; null where it is no such form, or has
 * more parts or longer heads than any valid request
 */
export function parseMultipart(body: Uint8Array, contentType: string): FormPart[] | null {
  const boundary = parseParameters(contentType, 'multipart/form-data')?.get('boundary') ?? '';
  if (boundary === '' || boundary.length > MAX_BOUNDARY) return null;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const parts: FormPart[] = [];
  // At the very beginning there is no line end before it.
  const isFirst = bytes.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2));
  let at = isFirst ? -2 : bytes.indexOf(delimiter);
  while (at !== -1) {
    const from = at + delimiter.length;
    // Its end: what follows is to be ignored.
    if (bytes.toString('latin1', from, from + 2) === '--') return parts;
    at = bytes.indexOf(delimiter, from);
    if (at === -1 || parts.length === MAX_PARTS) return null;
    const part = parsePart(bytes.subarray(from, at));
    if (part === null) return null;
    parts.push(part);
  }
  return null;
}

/** @param part what stands behind a delimiter, up to the next one */
function parsePart(part: Buffer): FormPart | null {
  const head = part.toString('latin1', 0, MAX_HEAD);
  const end = head.indexOf('\r\n\r\n');
  if (end === -1) return null;
  // Blanks may follow a delimiter, and lines may be folded.
  const [padding = '', ...lines] = head
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const [disposition = '', ...more] = valuesOf('content-disposition', lines);
  const parameters = parseParameters(disposition, 'form-data');
  const name = parameters?.get('name');
  if (parameters === null || name === undefined || more.length > 0 || !/^[ \t]*$/.test(padding)) {
    return null;
  }
  const [encoding = ''] = valuesOf('content-transfer-encoding', lines);
  const content = part.subarray(end + 4);
  return {
    name,
    // `filename*` is not for forms, and clients send it alone too (RFC 8187).
    isFile: parameters.has('filename') || parameters.has('filename*'),
    bytes:
      encoding.toLowerCase() === 'base64'
        ? Buffer.from(content.toString('latin1'), 'base64')
        : content,
  };
}

function valuesOf(header: string, lines: string[]): string[] {
  const start = `${header}:`;
  return lines
    .filter((line) => line.slice(0, start.length).toLowerCase() === start)
    .map((line) => line.slice(start.length).trim());
}

/**
 * One parameter, with a token or a quoted string as its value; also none, as behind a last `;`. No
 * two neighbours match the same character, so that nothing is tried twice.
 *
 * Browsers, curl and others escape no backslash (WHATWG HTML, 4.10.21.8), so `\"` may end a value:
 * it does where no further quote closes it, and so in one parameter of a header at most.
 */
const PARAMETER =
  /[ \t]*;[ \t]*(?:([^ \t;="]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|"([^"]*)"|([^ \t;"]*)))?/sy;

/**
 * Reads `type; name=value; …` of a header.
 *
 * @returns the parameters by their names in lower case; null where it is another type, is malformed,
 * or has one twice
 */
function parseParameters(header: string, type: string): Map<string, string> | null {
  if (header.slice(0, type.length).toLowerCase() !== type) return null;
  const parameters = new Map<string, string>();
  for (let at = type.length; at < header.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(header);
    if (found === null) return null;
    const [, name, quoted, unescaped, token = ''] = found;
    if (name === undefined) continue;
    if (parameters.has(name.toLowerCase())) return null;
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/gs, '$1') ?? unescaped ?? token);
  }
  return parameters;
}
