/** The archive: limits, members and JSON. The reader reports what it cannot accept of them. */
import { EVIDENCE_MEMBERS, VOLUME_LIMITS } from '../evidence-package.ts';
import type { Check, Tally } from './check.ts';
import type { Evidence } from './evidence.ts';

/** `container.limits`: nothing is larger than a reader must accept. */
export function checkLimits(tally: Tally): Check {
  return { member: () => tally.ok() };
}

const ORDER = Object.values(EVIDENCE_MEMBERS) as readonly string[];
const CHECKPOINT = /^checkpoints\/(0|[1-9]\d{0,15})\.note$/;
const REQUIRED = [
  EVIDENCE_MEMBERS.manifest,
  EVIDENCE_MEMBERS.keys,
  EVIDENCE_MEMBERS.proofs,
  EVIDENCE_MEMBERS.batches,
  EVIDENCE_MEMBERS.events,
] as const;

/**
 * A member's place in the order: its kind, then a checkpoint's size; undefined for an unknown one.
 */
function placeOf(name: string): { rank: number; size: number } | undefined {
  const [, size] = CHECKPOINT.exec(name) ?? [];
  if (size !== undefined) return { rank: 1.5, size: Number(size) };
  const rank = ORDER.indexOf(name);
  return rank < 0 ? undefined : { rank, size: 0 };
}

/**
 * Why a member may not come here.
 *
 * @param before names of the members so far
 */
export function findMisplaced(name: string, before: readonly string[]): string | undefined {
  const place = placeOf(name);
  if (place === undefined) return 'a member has a name that the format does not know';
  if (before.length === 0 && place.rank > 0) return 'the manifest is not the first member';
  if (before.includes(name)) return 'a member is there twice';
  if (before.length >= VOLUME_LIMITS.members) return 'there are too many members';
  const last = placeOf(before.at(-1) ?? '') ?? { rank: -1, size: 0 };
  const isBehind = place.rank > last.rank || (place.rank === last.rank && place.size >= last.size);
  return isBehind ? undefined : 'a member is out of order';
}

/** `container.members`: exactly the format's members, once, in order. */
export function checkMembers(tally: Tally): Check {
  const names: string[] = [];
  return {
    member: ({ name }) => {
      names.push(name);
      tally.ok();
    },
    end: () => {
      for (const name of REQUIRED) {
        if (!names.includes(name)) tally.fail('a member is missing', { member: name });
      }
    },
  };
}

/** `json.strict`: every JSON text has one reading, and matches the format. */
export function checkJson(tally: Tally): Check {
  return { json: () => tally.ok() };
}

/** `files.digest`: the members are those that the manifest lists, byte for byte. */
export function checkFiles(tally: Tally, evidence: Evidence): Check {
  const seen = new Set<string>();
  let listed: Map<string, { size: number; sha256: string }> | undefined;
  return {
    file: ({ name, size, sha256 }) => {
      if (name === EVIDENCE_MEMBERS.manifest) return;
      if (!listed) {
        listed = new Map(evidence.manifest.files.map((file) => [file.name, file]));
        if (listed.size !== evidence.manifest.files.length) {
          tally.fail('the manifest lists a file twice', { member: EVIDENCE_MEMBERS.manifest });
        }
      }
      const file = listed.get(name);
      seen.add(name);
      if (!file) tally.fail('the manifest does not list the file', { member: name });
      else if (file.size !== size || file.sha256 !== sha256) {
        tally.fail('the file is not what the manifest lists', { member: name });
      } else tally.ok();
    },
    end: () => {
      for (const { name } of evidence.manifest.files) {
        if (!seen.has(name)) {
          tally.fail('a file that the manifest lists is missing', {
            member: EVIDENCE_MEMBERS.manifest,
          });
        }
      }
    },
  };
}
