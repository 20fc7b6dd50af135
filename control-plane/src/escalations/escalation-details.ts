/** What a person sees of a held call before deciding: the call, its arguments, and what was before. */
import { z } from 'zod';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { EscalationView, toView } from './escalation.ts';
import {
  createHeldDetails,
  type HeldDetailsDeps,
  heldDetailFields,
  Withheld,
} from './held-details.ts';

export const EscalationDetail = EscalationView.extend({
  ...heldDetailFields,
  /** Null when withheld entirely. */
  arguments: z.record(z.string(), z.unknown()).nullable(),
  arguments_withheld: Withheld.nullable(),
}).meta({ id: 'EscalationDetail' });
export type EscalationDetail = z.infer<typeof EscalationDetail>;

export type EscalationDetails = ReturnType<typeof createEscalationDetails>;

/** The part of a stored policy input that is shown here. */
const KeptInput = z.object({
  request: z.object({ parameters: z.record(z.string(), z.unknown()) }),
});

export function createEscalationDetails(deps: HeldDetailsDeps) {
  const details = createHeldDetails(deps, {
    held: 'call',
    notFound: 'ESCALATION_NOT_FOUND',
    parse: (stored) => KeptInput.parse(stored).request.parameters,
  });
  return {
    /** @throws AppError ESCALATION_NOT_FOUND */
    get: async (scope: TenantScope, id: string): Promise<EscalationDetail> => {
      const { row, fields, kept, withheld } = await details.get(scope, id);
      return { ...toView(row), ...fields, arguments: kept ?? null, arguments_withheld: withheld };
    },
  };
}
