/**
 * Removes the passages that look like an injection, from an answer that a person released in this
 * form: each passage is replaced by a notice, and the rest is scanned once more. An answer that
 * still has findings is not released.
 */
import type {
  DetectionOptions,
  TextFinding,
  TextKind,
} from '@governance/shared/detect/inbound/detector';
import type { Portioned } from '@governance/shared/detect/portions';
import { isObject } from '../../upstream/message.ts';
import type { Detector } from './detector.ts';
import { readable } from './readable.ts';
import { detectWhole } from './split-texts.ts';

/** UTF-16 units. A longer text with a finding is replaced as a whole. */
const MAX_TEXT = 65_536;
/** Scans of one text: without a passage, the text around it may be a new finding. */
const MAX_ROUNDS = 3;

/**
 * @param value of a server's answer
 * @returns the value with the passages removed; undefined where findings remain
 */
export function* sanitize(
  value: unknown,
  detector: Detector,
  kind: TextKind,
): Portioned<unknown> | Portioned<undefined> {
  const left = yield* clean(value, readable(value), detector, { kind });
  // Findings in names of members, and in passages that are split over several texts, remain.
  const found = yield* detectWhole(readable(left), detector, { kind });
  return found.length === 0 ? left : undefined;
}

/** @param read the value as the scanner reads it (`readable`): with blobs decoded to text */
function* clean(
  given: unknown,
  read: unknown,
  detector: Detector,
  options: DetectionOptions,
): Portioned<unknown> {
  if (typeof given === 'string') {
    // A member that is not read is no text, but an image or a sound.
    if (typeof read !== 'string') return given;
    const left = yield* cleanText(read, detector, options);
    if (left === read) return given;
    return given === read ? left : Buffer.from(left).toString('base64');
  }
  if (Array.isArray(given)) {
    const items: unknown[] = [];
    for (const [at, item] of given.entries()) {
      items.push(yield* clean(item, Array.isArray(read) ? read[at] : undefined, detector, options));
    }
    return items;
  }
  if (!isObject(given)) return given;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(given)) {
    const of = isObject(read) ? read[name] : undefined;
    members.push([name, yield* clean(member, of, detector, options)]);
  }
  return Object.fromEntries(members);
}

function* cleanText(
  text: string,
  detector: Detector,
  options: DetectionOptions,
): Portioned<string> {
  if (text.length > MAX_TEXT) {
    const found = yield* detector.inValue(text, options);
    return found.length === 0 ? text : notice(found.map((one) => one.class));
  }
  let left = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { findings } = detector.inText(left, options);
    yield left.length;
    if (findings.length === 0) return left;
    left = withoutPassages(left, findings);
  }
  const { findings } = detector.inText(left, options);
  return findings.length === 0 ? left : notice(findings.map((one) => one.class));
}

function withoutPassages(text: string, findings: readonly TextFinding[]): string {
  let left = '';
  let at = 0;
  for (const one of [...findings].sort((a, b) => a.start - b.start)) {
    const end = one.start + one.length;
    if (end <= at) continue;
    if (one.start >= at) left += text.slice(at, one.start) + notice([one.class]);
    at = end;
  }
  return left + text.slice(at);
}

function notice(classes: readonly string[]): string {
  return `[withheld by the gateway: ${[...new Set(classes)].sort().join(', ')}]`;
}
