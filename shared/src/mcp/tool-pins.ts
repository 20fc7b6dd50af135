/**
 * Reports of data planes on the tools that they have pinned: by heartbeat, since it is a state and
 * not an event, and by the alert about a change. Each report is complete for its tool, so that one
 * that comes twice, late or out of order changes nothing newer.
 */
import { z } from 'zod';
import { Sha256Hex, Text, Timestamp } from '../text.ts';

/** Tools in one heartbeat. */
export const MAX_PIN_REPORTS = 100;

/** UTF-16 units of each side of a difference, over all members. */
export const MAX_DIFFERENCE = 2_000;

/**
 * How a definition differs from the pinned one, by member: where its JSON begins to differ. Null
 * for a member that is missing, or whose text is unknown. It is a server's text.
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

/** When a tool was seen. PostgreSQL knows no year 0. */
export const SeenAt = Timestamp.refine((time) => time >= '0001', 'must not be in the year 0');

export const ToolPinReport = z.object({
  server_id: Text.min(1).max(100),
  tool_name: Text.min(1).max(256),
  /** The definition that this data plane requires of the tool. */
  pinned_hash: Sha256Hex,
  /** The tool's last definition, where that differs. */
  seen_hash: Sha256Hex.optional(),
  first_seen_at: SeenAt,
  /** When the tool's definition last changed. */
  seen_at: SeenAt,
  /** The server keeps changing it. */
  varies: z.boolean().optional(),
  /** Members that differ. */
  changed: z.array(Text.max(40)).max(10).optional(),
  difference: ToolDifference.optional(),
});
export type ToolPinReport = z.infer<typeof ToolPinReport>;
