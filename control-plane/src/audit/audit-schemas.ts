import { PolicyResult } from '@governance/shared/ledger/ledger-record';
import { GivenId } from '@governance/shared/text';
import { z } from 'zod';
import { pageQuery, QueryTime } from '../platform/http/schemas.ts';
import { AuditEvent } from './audit-event.ts';

export const EventQuery = z
  .object({
    agent_id: GivenId.optional(),
    policy_result: PolicyResult.optional().meta({
      description:
        'dlp_block finds what data loss prevention blocked; its events say deny, and deny finds them too.',
    }),
    from: QueryTime.optional(),
    to: QueryTime.optional(),
    // Skipping more rows takes seconds; `from` and `to` use the index.
    ...pageQuery({
      default: 100,
      max: 1000,
      offset: {
        max: 1_000_000,
        tooBig: 'must be at most 1000000: narrow the list with from and to',
      },
    }),
  })
  .refine(({ from, to }) => !from || !to || from <= to, {
    message: 'must not be before from',
    path: ['to'],
  });

export const EventList = z.object({
  events: z.array(AuditEvent),
  total: z.int(),
  /** False when there are more than `total` events. */
  total_is_exact: z.boolean(),
});
