/**
 * Reports pins to the control plane in heartbeats: all of them after a start and once a day, and
 * changes in between. Reports of a heartbeat that did not arrive are sent again.
 */

import { MAX_PIN_REPORTS, SeenAt, ToolPinReport } from '@governance/shared/mcp/tool-pins';
import { isoTime } from '@governance/shared/time/iso-time';
import { z } from 'zod';
import type { PinReports } from '../../contracts.ts';
import type { NumberedPin, PinFile } from './pin-file.ts';
import {
  changedMembers,
  differenceOf,
  type MemberDigests,
  type MemberTexts,
} from './tool-definition.ts';

/**
 * Limit of the pins in one heartbeat: an older control plane refuses a heartbeat of more than 32
 * KiB altogether.
 */
const MAX_BYTES = 12 * 1024;
/** After this time all pins are sent again, since the control plane may have lost some. */
const REPEAT_MS = 24 * 60 * 60_000;

export const NO_PIN_REPORTS: PinReports = { next: () => undefined, received: () => undefined };

interface Place {
  /** The serial up to which pins were reported. */
  serial: number;
  /** The serial up to which the heartbeat in flight reports. */
  next: number;
  beganAt: number;
}

/**
 * @param onMore called when more pins may have to be reported
 * @param now Unix milliseconds
 */
export function createPinReports(deps: {
  file: Pick<PinFile, 'listAfter'>;
  onMore(tenantId: string): void;
  now(): number;
}): PinReports {
  // One for each tenant served.
  const places = new Map<string, Place>();

  function placeOf(tenantId: string): Place {
    const known = places.get(tenantId);
    const isOld = known !== undefined && Math.abs(deps.now() - known.beganAt) > REPEAT_MS;
    if (known !== undefined && !isOld) return known;
    const place = { serial: 0, next: 0, beganAt: deps.now() };
    places.set(tenantId, place);
    return place;
  }

  function collect(tenantId: string): ToolPinReport[] {
    const place = placeOf(tenantId);
    place.next = place.serial;
    const reports: ToolPinReport[] = [];
    let left = MAX_BYTES;
    for (const pin of deps.file.listAfter(tenantId, place.serial, MAX_PIN_REPORTS)) {
      const report = ToolPinReport.safeParse(toReport(pin, isoTime(deps.now())));
      // A tool whose name does not fit a report is pinned here only.
      if (report.success) {
        const { data } = report;
        if (sizeOf(data) > MAX_BYTES) delete data.difference;
        left -= sizeOf(data);
        if (left < 0) break;
        reports.push(data);
      }
      place.next = pin.serial;
    }
    return reports;
  }

  return {
    next(tenantId) {
      try {
        const reports = collect(tenantId);
        return reports.length === 0 ? undefined : reports;
      } catch {
        // The heartbeat is sent without pins; an unreadable file is logged where tools are checked.
        return undefined;
      }
    },
    received(tenantId) {
      const place = placeOf(tenantId);
      if (place.next === place.serial) return;
      place.serial = place.next;
      // The next heartbeat sends the rest.
      deps.onMore(tenantId);
    },
  };
}

function sizeOf(report: ToolPinReport): number {
  return Buffer.byteLength(JSON.stringify(report)) + 1;
}

function toReport(pin: NumberedPin, now: string): ToolPinReport {
  const { server_id, tool_name, pinned: pinned_hash } = pin;
  // A damaged time must not keep a change from being known, and approved.
  const timeOf = (stored: string) => (SeenAt.safeParse(stored).success ? stored : now);
  const [first_seen_at, seen_at] = [timeOf(pin.first_seen_at), timeOf(pin.seen_at)];
  const base = { server_id, tool_name, pinned_hash, first_seen_at, seen_at };
  const varies = pin.varies === 1 && { varies: true };
  if (pin.seen === pinned_hash) return { ...base, ...varies };
  return { ...base, ...varies, seen_hash: pin.seen, ...differenceOfPin(pin) };
}

/** How the last seen definition differs from the pinned one. */
export function differenceOfPin(
  pin: Pick<NumberedPin, 'members' | 'seen_members' | 'pinned_texts' | 'seen_texts'>,
): Required<Pick<ToolPinReport, 'changed' | 'difference'>> {
  const changed = changedMembers(digests(pin.members), digests(pin.seen_members));
  const difference = differenceOf(changed, texts(pin.pinned_texts), texts(pin.seen_texts));
  return { changed, difference };
}

const digests = (json: string): MemberDigests => read(json);
const texts = (json: string | null): MemberTexts => (json === null ? {} : read(json));

/** What is damaged counts as unknown: the hashes still tell that the tool changed. */
function read(json: string): Record<string, string> {
  try {
    return z.record(z.string(), z.string()).catch({}).parse(JSON.parse(json));
  } catch {
    return {};
  }
}
