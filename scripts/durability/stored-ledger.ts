/** Reads a stopped data plane's ledger file and checks it as an auditor would. */

import { recordsIn, type StoredRow } from '@governance/data-plane/ledger/ledger-rows';
import { type ChainPosition, verifyLink } from '@governance/shared/ledger/hash-chain';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import Database from 'better-sqlite3';
import { MARK } from './marked-backend.ts';

interface Row extends StoredRow {
  position: number;
  stream_no: number;
}

/** Continues where the last read ended, so that a hundred rounds cost one read. */
export function createLedgerReader(file: string) {
  const heads = new Map<number, ChainPosition>();
  let position = 0;
  let records = 0;
  return {
    /** @returns the marks of the decisions recorded since the last read, and any problems */
    read(): { decided: Set<number>; problems: string[]; records: number } {
      const db = new Database(file);
      const decided = new Set<number>();
      const problems: string[] = [];
      try {
        const rows = db
          .prepare<[number], Row>('SELECT * FROM records WHERE position > ? ORDER BY position')
          .iterate(position);
        for (const row of rows) {
          position = row.position;
          for (const { hash, bytes } of recordsIn(row)) {
            records += 1;
            const record = parseRecord(bytes);
            const { after, broken } = verifyLink(
              heads.get(row.stream_no) ?? null,
              {
                ...record,
                previous: record.type === 'epoch_start' ? record.previous : undefined,
                bytes,
              },
              hash ?? undefined,
            );
            heads.set(row.stream_no, after);
            if (broken) problems.push(JSON.stringify(broken));
            if (record.type !== 'decision') continue;
            const mark = MARK.exec(record.target);
            if (mark && record.policy_result === 'allow') decided.add(Number(mark[1]));
          }
        }
      } finally {
        db.close();
      }
      return { decided, problems, records };
    },
  };
}
