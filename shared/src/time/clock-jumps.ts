/**
 * When a clock that is suddenly far ahead is believed for good. A glitch of a minute must leave
 * nothing behind that counts as newest from then on. Both planes go by it: ADR 24.
 */

/** Corrections of NTP are far smaller. */
export const CLOCK_JUMP_MS = 5 * 60_000;

/** For how long a clock has to show a jump before it is believed. */
export const JUMP_SETTLED_MS = 10 * 60_000;
