/**
 * Rows of ledger_records in PostgreSQL's binary COPY format, and the COPY that takes them: half the
 * server's work of an INSERT, and bytes travel as they are. The payload is made whole, messages and
 * all, in one buffer, so that a batch is one write to the socket.
 *
 * Formats: PostgreSQL documentation, "COPY / Binary Format" and "Message Formats / CopyData".
 * Proven by ledger-copy.pg.test.ts.
 */
import pg from 'pg';
import { type LedgerColumns, listedTime } from '../audit/ledger-projection.ts';

export interface NewLedgerRow {
  stream: string;
  epoch: number;
  seq: number;
  hash: string;
  prevHash: string;
  bytes: Uint8Array;
  columns: LedgerColumns;
}

const COLUMNS = [
  'tenant_id',
  'received_at',
  'position',
  'stream',
  'epoch',
  'seq',
  'type',
  'id',
  'subject_id',
  'agent_id',
  'policy_result',
  'event_time',
  'hash',
  'prev_hash',
  'bytes',
];

/** @param table whose columns are those of ledger_records */
export function copyStatement(table: 'ledger_records' | 'bare_records'): string {
  return `COPY ${table} (${COLUMNS.join(', ')}) FROM STDIN (FORMAT binary)`;
}

const SIGNATURE = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const COPY_DATA = 'd'.charCodeAt(0);
const COPY_DONE = 'c'.charCodeAt(0);
const MESSAGE_HEAD = 5;
/** The server takes a message in whole before it reads the rows in it. */
const MESSAGE_BYTES = 64 * 1024;
const FIXED_ROW_BYTES = 2 + COLUMNS.length * 4 + 5 * 16 + 4 * 8 + 4;
const PG_EPOCH_MS = Date.UTC(2000, 0, 1);

/**
 * @param rows in the order of their positions
 * @param place of the first row, and the time of receipt of all, in milliseconds since 1970
 * @returns CopyData messages and the CopyDone behind them
 */
export function encodeCopy(
  tenantId: string,
  rows: readonly NewLedgerRow[],
  place: { firstPosition: number; receivedAt: number },
): Buffer {
  const writer = new CopyWriter(rows);
  const tenant = Buffer.alloc(16);
  tenant.write(tenantId.replaceAll('-', ''), 'hex');
  let position = place.firstPosition;
  for (const row of rows) {
    const { columns } = row;
    writer.beginRow();
    writer.field(tenant);
    writer.time(place.receivedAt);
    writer.int64(position++);
    writer.uuid(row.stream);
    writer.int32(row.epoch);
    writer.int64(row.seq);
    writer.text(columns.type);
    writer.uuid(columns.id);
    writer.uuid(columns.subjectId);
    writer.uuid(columns.agentId);
    writer.text(columns.policyResult);
    writer.time(listedTime(Date.parse(columns.eventTime), place.receivedAt));
    writer.text(row.hash);
    writer.text(row.prevHash);
    writer.field(row.bytes);
  }
  return writer.end();
}

class CopyWriter {
  readonly #buffer: Buffer;
  #at = 0;
  #messageAt = 0;

  constructor(rows: readonly NewLedgerRow[]) {
    let size = SIGNATURE.length + 2 + 3 * MESSAGE_HEAD;
    for (const { bytes, hash, prevHash, columns } of rows) {
      const texts =
        columns.type.length + (columns.policyResult?.length ?? 0) + hash.length + prevHash.length;
      // UTF-8 takes at most three bytes for a UTF-16 unit; each row may begin a message.
      size += FIXED_ROW_BYTES + bytes.byteLength + 3 * texts + MESSAGE_HEAD;
    }
    this.#buffer = Buffer.allocUnsafe(size);
    this.#beginMessage();
    SIGNATURE.copy(this.#buffer, this.#at);
    this.#at += SIGNATURE.length;
  }

  beginRow(): void {
    if (this.#at - this.#messageAt > MESSAGE_BYTES) {
      this.#endMessage();
      this.#beginMessage();
    }
    this.#at = this.#buffer.writeInt16BE(COLUMNS.length, this.#at);
  }

  field(value: Uint8Array): void {
    this.#at = this.#buffer.writeInt32BE(value.byteLength, this.#at);
    this.#buffer.set(value, this.#at);
    this.#at += value.byteLength;
  }

  text(value: string | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    const length = this.#buffer.write(value, this.#at + 4);
    this.#buffer.writeInt32BE(length, this.#at);
    this.#at += 4 + length;
  }

  uuid(value: string | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    const at = this.#buffer.writeInt32BE(16, this.#at);
    const written = this.#buffer.write(value.replaceAll('-', ''), at, 16, 'hex');
    if (written !== 16) throw new TypeError('a UUID was expected');
    this.#at = at + 16;
  }

  int32(value: number): void {
    this.#at = this.#buffer.writeInt32BE(4, this.#at);
    this.#at = this.#buffer.writeInt32BE(value, this.#at);
  }

  int64(value: number): void {
    this.#bigint(BigInt(value));
  }

  /** @param ms since 1970; NaN throws */
  time(ms: number): void {
    this.#bigint(BigInt(ms - PG_EPOCH_MS) * 1000n);
  }

  end(): Buffer {
    this.#at = this.#buffer.writeInt16BE(-1, this.#at);
    this.#endMessage();
    this.#at = this.#buffer.writeUInt8(COPY_DONE, this.#at);
    this.#at = this.#buffer.writeInt32BE(4, this.#at);
    return this.#buffer.subarray(0, this.#at);
  }

  #null(): void {
    this.#at = this.#buffer.writeInt32BE(-1, this.#at);
  }

  #bigint(value: bigint): void {
    this.#at = this.#buffer.writeInt32BE(8, this.#at);
    this.#at = this.#buffer.writeBigInt64BE(value, this.#at);
  }

  #beginMessage(): void {
    this.#messageAt = this.#at;
    this.#buffer.writeUInt8(COPY_DATA, this.#at);
    this.#at += MESSAGE_HEAD;
  }

  #endMessage(): void {
    // The length counts itself, and not the byte of the type.
    this.#buffer.writeInt32BE(this.#at - this.#messageAt - 1, this.#messageAt + 1);
  }
}

/**
 * Runs a COPY … FROM STDIN.
 *
 * @param payload messages of `encodeCopy`
 * @returns the number of rows
 */
export function copyInto(client: pg.PoolClient, sql: string, payload: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const query = new CopyQuery(sql, payload, (error, result) =>
      error ? reject(error) : resolve(result?.rowCount ?? 0),
    );
    client.query(query);
  });
}

/**
 * `pg` answers a server that waits for COPY data with "no source stream defined", by this method
 * of its query; everything else (errors, time limits, the end) is as with any other query.
 */
class CopyQuery extends pg.Query {
  readonly #payload: Buffer;

  constructor(
    sql: string,
    payload: Buffer,
    done: (error: Error | undefined, result: { rowCount: number | null } | undefined) => void,
  ) {
    super(sql, done);
    this.#payload = payload;
  }

  handleCopyInResponse(connection: pg.Connection): void {
    connection.stream.write(this.#payload);
  }
}
