/** What both planes share about exceptions. */
import { z } from 'zod';

/**
 * What an exception lifts: an escalation of its shape (`escalation`), or what one policy denies one
 * agent (`deny`).
 */
export const ExceptionLifts = z.enum(['escalation', 'deny']);
export type ExceptionLifts = z.infer<typeof ExceptionLifts>;

/** The `policy_id` under which the blast radius escalates and denies. */
export const BLAST_RADIUS = 'blast_radius';

/** A tenant's exceptions that are active or wait for a second approver: each may become a fact. */
export const MAX_EXCEPTIONS = 1_000;
/** Those with the same agent, server and tool: a call is compared with each. */
export const MAX_EXCEPTIONS_OF_SHAPE = 50;
