/**
 * A package's members in turn, from either of its forms: a gzipped archive, or one JSON document
 * with the members' texts. Its first bytes determine which.
 */
import { z } from 'zod';
import { parseStrictJson } from '../json/strict-json.ts';
import { EVIDENCE_JSON_FORMAT, VOLUME_LIMITS } from './evidence-package.ts';
import { type GunzipLimits, gunzip, TooLargeError } from './gunzip.ts';
import { ArchiveError, type ArchiveMember, readUstar } from './ustar.ts';

export type SourceLimits = GunzipLimits;

const JsonPackage = z.strictObject({
  format: z.literal(EVIDENCE_JSON_FORMAT),
  members: z.record(z.string().max(100), z.string()),
});

/** A JSON document is held in memory as a whole. */
const JSON_BYTES = VOLUME_LIMITS.documentBytes;
const JSON_NODES = 1_000;

/**
 * Reads the members.
 *
 * @param source the package's bytes, cut anywhere, caller-controlled
 * @throws ArchiveError when it is neither form; TooLargeError at a limit
 */
export async function* readMembers(
  source: AsyncIterable<Uint8Array>,
  limits: SourceLimits,
): AsyncGenerator<ArchiveMember> {
  const chunks = source[Symbol.asyncIterator]();
  let first: Uint8Array = Buffer.alloc(0);
  while (first.byteLength === 0) {
    const next = await chunks.next();
    if (next.done) throw new ArchiveError('the package is empty');
    first = next.value;
  }
  const all = withFirst(first, chunks);
  if (first[0] === 0x1f) yield* readUstar(gunzip(all, limits));
  else if (first[0] === 0x7b) yield* readDocument(all, Math.min(limits.packedBytes, JSON_BYTES));
  else throw new ArchiveError('the package is neither a gzip nor a JSON document');
}

async function* withFirst(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

async function* readDocument(
  source: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<ArchiveMember> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.byteLength;
    if (size > limit) throw new TooLargeError('the JSON document is too large');
    parts.push(chunk);
  }
  let members: Record<string, string>;
  try {
    const value = parseStrictJson(Buffer.concat(parts), { maxDepth: 4, maxNodes: JSON_NODES });
    members = JsonPackage.parse(value).members;
  } catch (cause) {
    throw new ArchiveError('the JSON document is no package', { cause });
  }
  for (const [name, text] of Object.entries(members)) {
    const content = Buffer.from(text);
    yield { name, size: content.length, content: once(content) };
  }
}

async function* once(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}
