/**
 * A dispute: what the control plane says in its own chain, before it takes a data plane's record,
 * about what that record refers to (ADR 93). An `admin_action` whose target is
 * `data_plane/<stream>`.
 */
import { z } from 'zod';
import { Epoch, Sha256Hex } from '../text.ts';

export const RECORD_DISPUTED = 'record_disputed';
export const DISPUTED_TARGET = 'data_plane/';

/** In one dispute, which stays far below a record's limit of bytes. */
export const MAX_DISPUTED = 250;

/** The evidence checks that what a record refers to can fail. */
export type DisputableCheck = 'policy.binding' | 'approval.binding' | 'delegation.binding';

/** The part of a dispute's details that verifiers read; `reason` and `reference` are for people. */
export const DisputeDetails = z.looseObject({
  epoch: Epoch,
  records: z
    .array(z.looseObject({ seq: z.int().positive(), hash: Sha256Hex, check: z.string() }))
    .max(MAX_DISPUTED),
});
export type DisputeDetails = z.infer<typeof DisputeDetails>;
