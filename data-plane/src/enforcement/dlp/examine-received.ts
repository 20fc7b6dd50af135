/**
 * What DLP finds in an answer or message, and the answer without redacted values. Protocol tokens
 * that only their issuer reads are not scanned. Binary members are scanned as the text that they
 * may encode. Pure: any thread may run it.
 */
import { isUtf8 } from 'node:buffer';
import type { DlpFinding } from '@governance/shared/detect/findings';
import { actionFor } from '@governance/shared/settings/dlp-settings';
import { isObject } from '../../upstream/message.ts';
import { textsOf } from '../call/received-message.ts';
import type { PreparedDlp } from './dlp-scanners.ts';
import { redact } from './redaction.ts';

export interface ReceivedText {
  /** Whether it is a client's answer to a server, to which the settings for calls apply. */
  readonly isFromClient: boolean;
  readonly value: unknown;
  /** The value as JSON, if available. */
  readonly raw: string | null;
  /** The end of the previous part of the same stream. */
  readonly carry: string;
  /** How many characters of it are of the last message before this part. */
  readonly carriedLast?: number | undefined;
  /** The top-level members that only their issuer reads, which are not scanned. */
  readonly opaque: readonly string[];
  /** The tool's output schema, which a redacted result must still fit; undefined for none. */
  readonly outputSchema: unknown;
}

export interface ReceivedReport {
  readonly findings: DlpFinding[];
  /** The value after redaction; null where nothing was redacted, or the value must be blocked. */
  readonly redacted: { readonly value: unknown; readonly raw: string } | null;
}

/** @throws PatternBudgetError when the tenant's patterns take too long */
export function examineReceived(received: ReceivedText, prepared: PreparedDlp): ReceivedReport {
  const { isFromClient, value, raw } = received;
  const parts = partsOf(value, raw, received.opaque);
  const scan = isFromClient ? prepared.scanSent : prepared.scanReceived;
  const open = scan(parts.open);
  const fixed = [...binaryFindings(parts, scan), ...splitFindings(received, prepared)];
  const findings = [...open, ...fixed];
  if (isFromClient || findings.length === 0) return { findings, redacted: null };
  const { results } = prepared.settings;
  const actionOf = ({ severity }: DlpFinding) => actionFor(results, severity);
  // Binary members, and values that began in the previous part, cannot be redacted, only blocked.
  const isBlocked =
    findings.some((finding) => actionOf(finding) === 'block') ||
    fixed.some((finding) => actionOf(finding) !== 'log');
  if (isBlocked || !open.some((finding) => actionOf(finding) === 'redact')) {
    return { findings, redacted: null };
  }
  const rest = redact(parts.open, prepared.redactor, received.outputSchema);
  if (rest === null) return { findings, redacted: null };
  const whole = parts.whole(rest);
  return { findings, redacted: { value: whole, raw: JSON.stringify(whole) } };
}

/** Findings in the texts of binary members, which are not rewritten. */
function binaryFindings(
  { decoded }: ScannedParts,
  scan: PreparedDlp['scanReceived'],
): DlpFinding[] {
  return decoded.flatMap((text, index) =>
    scan(text).map((finding) => ({
      ...finding,
      place: `/binary/${index}`,
      disguise: [...new Set(['base64', ...(finding.disguise ?? [])])],
    })),
  );
}

/** UTF-16 units on each side of the boundary between two parts of a stream. */
const SEAM = 256;

/** Findings in values that began in the previous part, which the client already has. */
function splitFindings(received: ReceivedText, { scanner }: PreparedDlp): DlpFinding[] {
  const { carry, carriedLast = 0, value } = received;
  if (carry === '') return [];
  const text = textsOf(value).slice(0, SEAM);
  const within = (before: string) =>
    scanner.scanText(before + text).flatMap(({ pattern, severity, start, length }) => {
      const isSplit = start < before.length && start + length > before.length;
      return isSplit ? [{ pattern, severity, place: '', length, disguise: ['split'] }] : [];
    });
  const before = carry.slice(-SEAM);
  const found = within(before);
  // A value that begins with the last message would otherwise begin within a word.
  const isWithinWord = carriedLast > 0 && /\w$/.test(before.slice(0, -carriedLast));
  return found.length === 0 && isWithinWord ? within(before.slice(-carriedLast)) : found;
}

interface ScannedParts {
  /** The value that is scanned. */
  readonly open: unknown;
  /** Texts in binary members. */
  readonly decoded: readonly string[];
  /** Puts the members that were not scanned back into a copy of `open`. */
  whole(open: unknown): unknown;
}

/**
 * Separates a message into what is scanned, binary members, and opaque tokens.
 *
 * @param raw the message as JSON, if available, to see quickly that it has no binary members
 * @param opaque names of top-level members
 */
export function partsOf(
  value: unknown,
  raw: string | null,
  opaque: readonly string[],
): ScannedParts {
  const decoded: string[] = [];
  const mayBeBinary = raw === null || raw.includes('"blob"') || raw.includes('"data"');
  const without = mayBeBinary ? withoutBinary(value, decoded) : value;
  if (!isObject(without)) return { open: without, decoded, whole: (open) => open };
  const names = opaque.filter((name) => Object.hasOwn(without, name));
  if (names.length === 0 && without === value) {
    return { open: value, decoded, whole: (open) => open };
  }
  const open = { ...without };
  for (const name of names) delete open[name];
  return {
    open,
    decoded,
    whole: (changed) => {
      const restored = withBinary(changed, value);
      const tokens = names.map((name) => [name, without[name]]);
      return { ...(restored as object), ...Object.fromEntries(tokens) };
    },
  };
}

/** The member of an image, audio or embedded resource that the protocol encodes in base64. */
function binaryKey(value: Record<string, unknown>): 'data' | 'blob' | null {
  const { type, data, blob, uri } = value;
  if ((type === 'image' || type === 'audio') && typeof data === 'string') return 'data';
  return typeof blob === 'string' && typeof uri === 'string' ? 'blob' : null;
}

/** A copy with empty texts for binary members; the value itself if it has none. */
function withoutBinary(value: unknown, decoded: string[]): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutBinary(item, decoded));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!isObject(value)) return value;
  const key = binaryKey(value);
  const copy: Record<string, unknown> = {};
  let isChanged = key !== null;
  for (const name of Object.keys(value)) {
    const member = value[name];
    copy[name] = name === key ? '' : withoutBinary(member, decoded);
    if (copy[name] !== member) isChanged = true;
  }
  if (key !== null) decoded.push(...textsOfBinary(value[key] as string));
  return isChanged ? copy : value;
}

/** Puts the binary members of the original into a copy of the same shape. */
function withBinary(changed: unknown, original: unknown): unknown {
  if (Array.isArray(changed) && Array.isArray(original)) {
    return changed.map((item, i) => withBinary(item, original[i]));
  }
  if (!isObject(changed) || !isObject(original)) return changed;
  const key = binaryKey(original);
  return Object.fromEntries(
    Object.entries(changed).map(([name, member]) => [
      name,
      name === key ? original[name] : withBinary(member, original[name]),
    ]),
  );
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** UTF-16 units. Tokens in a base64 member are not longer than this; most images are. */
const SHORT = 256;

/**
 * The texts of a member that should be base64: the text or the printable runs that it encodes, and
 * the member itself where it is short or no base64.
 */
function textsOfBinary(member: string): string[] {
  if (member === '') return [];
  if (!BASE64.test(member.replaceAll(/[\r\n]/g, ''))) return [member];
  const bytes = Buffer.from(member, 'base64');
  if (!bytes.includes(0) && isUtf8(bytes)) return [bytes.toString('utf8')];
  const runs = runsIn(bytes);
  return member.length > SHORT ? runs : [...runs, member];
}

/** Runs of printable characters, longer than most in binary data. */
const RUN = /[\x20-\x7e\t]{6,}/g;

/** The printable runs in bytes, also in UTF-16 of both byte orders, as one text. */
function runsIn(bytes: Buffer): string[] {
  const texts = [bytes.toString('latin1'), bytes.toString('utf16le'), swappedText(bytes)];
  const runs = texts.flatMap((text) => text.match(RUN) ?? []);
  return runs.length > 0 ? [runs.join('\n')] : [];
}

function swappedText(bytes: Buffer): string {
  const even = Buffer.from(bytes.subarray(0, bytes.length & ~1));
  return even.swap16().toString('utf16le');
}
