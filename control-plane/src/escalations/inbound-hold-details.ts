/**
 * What a person sees of a held result before deciding: the call, what was found and where, the text,
 * and what was before.
 */
import { z } from 'zod';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import {
  createHeldDetails,
  type HeldDetailsDeps,
  heldDetailFields,
  Withheld,
} from './held-details.ts';
import { InboundHoldView, toHoldView } from './inbound-hold.ts';

export const InboundHoldDetail = InboundHoldView.extend({
  ...heldDetailFields,
  /** As the server gave it, unchecked; null when withheld entirely. */
  result: z.unknown().nullable(),
  result_withheld: Withheld.nullable(),
}).meta({ id: 'InboundHoldDetail' });
export type InboundHoldDetail = z.infer<typeof InboundHoldDetail>;

export type InboundHoldDetails = ReturnType<typeof createInboundHoldDetails>;

export function createInboundHoldDetails(deps: HeldDetailsDeps) {
  const details = createHeldDetails(deps, {
    held: 'result',
    notFound: 'INBOUND_HOLD_NOT_FOUND',
    parse: (stored) => stored,
  });
  return {
    /** @throws AppError INBOUND_HOLD_NOT_FOUND */
    get: async (scope: TenantScope, id: string): Promise<InboundHoldDetail> => {
      const { row, fields, kept, withheld } = await details.get(scope, id);
      return { ...toHoldView(row), ...fields, result: kept ?? null, result_withheld: withheld };
    },
  };
}
