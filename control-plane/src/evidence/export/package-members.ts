/**
 * The members of a volume, in memory while it is made; bounded by VOLUME_BYTES and the size of one
 * batch.
 */
import { createHash } from 'node:crypto';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { ExportRefused } from './evidence-request.ts';

export interface Member {
  name: string;
  size: number;
  sha256: string;
  pieces: Buffer[];
}

/** A member that is one document. */
export function documentMember(name: string, text: string): Member {
  const bytes = Buffer.from(text);
  if (bytes.length > VOLUME_LIMITS.documentBytes) {
    throw new ExportRefused(`${name} would be too large: ask for less time`);
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { name, size: bytes.length, sha256, pieces: [bytes] };
}

const LINE_FEED = Buffer.from('\n');

/** A member made of lines, written a page at a time. */
export function createLineMember(name: string) {
  const digest = createHash('sha256');
  const pieces: Buffer[] = [];
  let size = 0;
  let lines = 0;

  /** @throws ExportRefused when a line is longer than verifiers accept */
  const writeLines = (text: string, count: number): void => {
    if (hasLongLine(text)) throw new ExportRefused(`a record is too large for ${name}`);
    const piece = Buffer.from(text);
    for (const part of [piece, LINE_FEED]) {
      digest.update(part);
      pieces.push(part);
    }
    size += piece.length + LINE_FEED.length;
    lines += count;
    if (size > VOLUME_LIMITS.unpackedBytes / 2) throw new ExportRefused(`${name} is too large`);
  };

  return {
    /**
     * @param text lines, separated by line feeds, without one at the end
     * @throws ExportRefused when a line is longer than verifiers accept
     */
    writeLines,
    /** @throws ExportRefused when a line is longer than verifiers accept */
    write: (page: readonly string[]): void => {
      if (page.length > 0) writeLines(page.join('\n'), page.length);
    },
    lines: () => lines,
    bytes: () => size,
    /** Undefined when nothing was written. */
    end: (): Member | undefined =>
      lines === 0 ? undefined : { name, size, sha256: digest.digest('hex'), pieces },
  };
}

function hasLongLine(text: string): boolean {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    // A character takes at most three bytes: most lines need no exact count.
    const isLong =
      (end - start) * 3 >= VOLUME_LIMITS.lineBytes &&
      Buffer.byteLength(text.slice(start, end)) >= VOLUME_LIMITS.lineBytes;
    if (isLong) return true;
    start = end + 1;
  }
  return false;
}
