/** The holds that a package shows, to compare with what was approved. */
import type { LedgerRecord } from '../../ledger/ledger-record.ts';
import { toDisputable } from './disputes.ts';
import type { DisputableRecord, EventView, Evidence } from './evidence.ts';

export type HeldType = 'hold_opened' | 'result_held';

/** What an approval and a hold agree on. */
interface Hold {
  event_id: string;
  instruction_hash: string;
  held: HeldType;
}

/** Names the hold of an approval. */
interface HoldPlace {
  deployment_id: string;
  escalation_id: string;
}

/** A data plane may open a hold again; the control plane disputes what is not the one it has. */
interface Opening {
  form: string;
  record: DisputableRecord;
}

/** The forms of the holds that are shown under an approval's id. */
interface Shown {
  undisputed: Set<string>;
  disputed: Set<string>;
}

export function createShownHolds({ disputes }: Pick<Evidence, 'disputes'>) {
  /** By `<stream>/<escalation>`: another data plane may name one that is not its own. */
  const openings = new Map<string, Opening[]>();
  const known = new Map<string, Shown>();

  function readShown(key: string): Shown {
    const shown: Shown = { undisputed: new Set(), disputed: new Set() };
    for (const { form, record } of openings.get(key) ?? []) {
      const isDisputed = disputes.isDisputed('approval.binding', record);
      (isDisputed ? shown.disputed : shown.undisputed).add(form);
    }
    return shown;
  }

  return {
    note: (
      record: LedgerRecord | null,
      where: Pick<EventView, 'line' | 'hash' | 'batch'>,
    ): void => {
      if (record?.type !== 'hold_opened' && record?.type !== 'result_held') return;
      const { stream, escalation_id, type: held } = record;
      const key = `${stream}/${escalation_id}`;
      const opening = { form: formOf({ ...record, held }), record: toDisputable(where, record) };
      const others = openings.get(key);
      if (others) others.push(opening);
      else openings.set(key, [opening]);
    },

    /**
     * Disputed holds count where there is no other, as a warning: whoever altered an approval could
     * hide it behind a dispute of its hold. To be asked once all holds were noted.
     */
    compare: (approval: Hold & HoldPlace): 'same' | 'other' | 'disputed' => {
      const key = `${approval.deployment_id}/${approval.escalation_id}`;
      const shown = known.get(key) ?? readShown(key);
      known.set(key, shown);
      const form = formOf(approval);
      if (shown.undisputed.size > 0) return shown.undisputed.has(form) ? 'same' : 'other';
      return shown.disputed.size === 0 || shown.disputed.has(form) ? 'same' : 'disputed';
    },
  };
}

const formOf = ({ held, event_id, instruction_hash }: Hold): string =>
  `${held}/${event_id}/${instruction_hash}`;
