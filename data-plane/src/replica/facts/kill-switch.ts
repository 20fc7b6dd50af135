/** The tenant's kill switch. An unreadable one counts as engaged. */
import type { KillSwitchFact } from '@governance/shared/channel/facts';
import type { FactKindContext } from '../fact-kind.ts';
import type { FactReader } from '../fact-reader.ts';

const ENGAGED: KillSwitchFact = {
  generation: Number.MAX_SAFE_INTEGER,
  engaged: true,
  reason: 'the kill switch could not be read',
  changed_at: '1970-01-01T00:00:00.000Z',
};

export const findKillSwitch = (facts: FactReader, tenantId: string) =>
  facts.find(tenantId, 'kill_switch', 'tenant', ENGAGED);

export const killSwitchFacts = ({ facts }: FactKindContext) => ({
  finds: { findKillSwitch: (tenantId: string) => findKillSwitch(facts, tenantId) },
});
