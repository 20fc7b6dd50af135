/**
 * What data planes tell of the tools that they have pinned: by heartbeat, since it is a state and no
 * event, and by the alert about a change. Each report says all of its tool, so that one that comes
 * twice, late or out of order changes nothing that is newer.
 */
import { z } from 'zod';
import { Sha256Hex, Text, Timestamp } from './text.ts';

/** Tools of one heartbeat. */
export const MAX_PIN_REPORTS = 100;

/** UTF-16 units of each side of a difference, over all members. */
export const MAX_DIFFERENCE = 2_000;

/**
 * How a definition differs from the pinned one, by member: where its JSON begins to differ. Null for
 * a member that is not there, or whose text is not known. It is what a server wrote.
 */
export const ToolDifference = z
  .array(
    z.object({
      member: Text.max(40),
      before: Text.max(MAX_DIFFERENCE + 10).nullable(),
      after: Text.max(MAX_DIFFERENCE + 10).nullable(),
    }),
  )
  .max(10);
export type ToolDifference = z.infer<typeof ToolDifference>;

export const ToolPinReport = z.object({
  server_id: Text.min(1).max(100),
  tool_name: Text.min(1).max(256),
  /** What this data plane holds the tool to. */
  pinned_hash: Sha256Hex,
  /** What the tool was at last, where that is something else. */
  seen_hash: Sha256Hex.optional(),
  first_seen_at: Timestamp,
  /** Since when the tool is what it was at last. */
  seen_at: Timestamp,
  /** The server says something else of it again and again. */
  varies: z.boolean().optional(),
  /** Members that differ. */
  changed: z.array(Text.max(40)).max(10).optional(),
  difference: ToolDifference.optional(),
});
export type ToolPinReport = z.infer<typeof ToolPinReport>;
