/** A tenant's settings for agent sessions, in `sessions` of /api/v1/admin/settings. */
import { z } from 'zod';

const IDLE_MINUTES = { least: 1, most: 24 * 60, usual: 30 };
const CYCLING_SESSIONS = { least: 2, most: 1_000, usual: 5 };

const IdleMinutes = z.int().min(IDLE_MINUTES.least).max(IDLE_MINUTES.most);
const CyclingSessions = z.int().min(CYCLING_SESSIONS.least).max(CYCLING_SESSIONS.most);

/** As stored: a missing member has its default. */
export const SessionSettings = z
  .object({
    idle_minutes: IdleMinutes.default(IDLE_MINUTES.usual),
    cycling_sessions: CyclingSessions.default(CYCLING_SESSIONS.usual),
  })
  .prefault({});
export type SessionSettings = z.infer<typeof SessionSettings>;

/** What a PATCH may name. */
export const SessionSettingsPatch = z.strictObject({
  idle_minutes: IdleMinutes.optional(),
  cycling_sessions: CyclingSessions.optional(),
});

export const SessionSettingsView = z.object({
  /** A session without events for this long is over. */
  idle_minutes: z.int(),
  /** This many sessions of one requester within 30 minutes raise REQUESTER_SESSION_CYCLING. */
  cycling_sessions: z.int(),
});
