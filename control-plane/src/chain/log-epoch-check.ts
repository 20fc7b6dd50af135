/**
 * Checks the signed statements that begin log epochs. Each names the epoch that it continues, which
 * need not have the number before: begin-log-epoch.ts skips numbers that a restore lost. So the
 * statements are followed from the log's present epoch to the first, as verifiers follow them.
 * Proven by log-epoch-check.pg.test.ts.
 */
import {
  isStatementSignedBy,
  type LogEpoch,
  MAX_LOG_EPOCHS,
  SignedLogEpoch,
} from '@governance/shared/evidence/evidence-keys';
import { forEachRoot, PLACES_A_PAGE, type SignedPlaces } from './log-places.ts';
import { NO_EPOCH, type StoredLogEpoch } from './signed-place-rows.ts';

type Break = (at: { epoch: number; size?: number }, actual: string, detail: string) => void;

export async function checkLogEpochs(places: SignedPlaces): Promise<void> {
  const { end, inLog, onBreak } = places;
  const broke: Break = ({ epoch, size = 0 }, actual, detail) => {
    const expected = 'a signed statement that continues the log';
    // The log's present size would make it another break at every walk.
    onBreak({ kind: 'log_epoch', epoch, seq: size, fault: detail, expected, actual, detail });
  };
  const line = followLine(end.epoch, broke);
  let below = NO_EPOCH;
  for (let left = MAX_LOG_EPOCHS; left > 0; left -= PLACES_A_PAGE) {
    const from = below;
    const page = await inLog((store) => store.readEpochs(from, PLACES_A_PAGE));
    await checkPage(places, page, { line, broke });
    below = page.at(-1)?.epoch ?? 0;
    if (page.length < PLACES_A_PAGE) return line.finish();
  }
  const [surplus] = await inLog((store) => store.readEpochs(below, 1));
  if (!surplus) return line.finish();
  broke(surplus, surplus.kid, `the log has more than ${MAX_LOG_EPOCHS} statements of log epochs`);
}

async function checkPage(
  places: SignedPlaces,
  page: readonly StoredLogEpoch[],
  { line, broke }: { line: Line; broke: Break },
): Promise<void> {
  const restored: (LogEpoch['restored'] & { begun: number })[] = [];
  for (const row of page) {
    // Begun since the walk read where the log ends; the key that signed it may be newer, too.
    if (row.epoch > places.end.epoch) continue;
    const statement = readStatement(places, row, broke);
    line.pass(row.epoch, statement?.restored.epoch);
    if (statement) restored.push({ ...statement.restored, begun: row.epoch });
  }
  await forEachRoot(places, restored, ({ begun: epoch, size, root: actual }, expected) => {
    if (actual === expected) return;
    broke({ epoch, size }, actual, 'the log does not have the tree that the statement names');
  });
}

/** @returns undefined where the row is no valid statement, which is reported */
function readStatement(
  { tenantId, keys }: SignedPlaces,
  row: StoredLogEpoch,
  broke: Break,
): LogEpoch | undefined {
  const signed = parseStatement(row);
  const statement = signed?.statement;
  if (!signed || statement?.tenant_id !== tenantId || statement.epoch !== row.epoch) {
    broke(row, row.statement.slice(0, 500), 'it is not a statement of this log epoch');
    return undefined;
  }
  const key = keys?.checkpoint.find(({ kid }) => kid === signed.kid);
  if (keys && !(key && isStatementSignedBy(key.jwk, signed))) {
    broke(row, row.kid, 'no known checkpoint key signed it');
    return undefined;
  }
  if (statement.restored.epoch >= row.epoch) {
    broke(row, `epoch ${statement.restored.epoch}`, 'the statement continues no earlier log epoch');
    return undefined;
  }
  return statement;
}

function parseStatement({ statement, kid, signature }: StoredLogEpoch): SignedLogEpoch | undefined {
  try {
    return SignedLogEpoch.parse({ statement: JSON.parse(statement), kid, signature });
  } catch {
    return undefined;
  }
}

interface Line {
  /**
   * Called with each stored epoch, the newest first.
   *
   * @param continued the epoch that its statement continues; undefined where that is not valid
   */
  pass(epoch: number, continued: number | undefined): void;
  /** Called behind the oldest stored epoch. */
  finish(): void;
}

/** Reports epochs without a statement, and statements that no later epoch continues. */
function followLine(present: number, broke: Break): Line {
  /** Undefined behind an invalid statement: any epoch may be the one that it continued. */
  let due: number | undefined = present;
  const miss = (epoch: number) => broke({ epoch }, 'none', 'the log epoch has no statement');
  return {
    pass: (epoch, continued) => {
      if (due !== undefined && epoch > due) {
        broke({ epoch }, `epoch ${due} was continued`, 'no later log epoch continues this one');
        return;
      }
      if (due !== undefined && epoch < due) miss(due);
      due = continued;
    },
    finish: () => {
      if (due !== undefined && due > 1) miss(due);
    },
  };
}
