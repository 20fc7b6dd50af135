/**
 * Writes rows of ledger_records by a COPY in PostgreSQL's binary format: it costs the server half
 * of an INSERT, and bytes are sent unencoded. The whole payload, messages included, is built in one
 * buffer, so that a batch is one write to the socket.
 *
 * Formats: PostgreSQL documentation, "COPY / Binary Format" and "Message Formats / CopyData".
 * Proven by ledger-copy.pg.test.ts.
 */
import pg from 'pg';
import type { LedgerColumns } from '../chain/ledger-columns.ts';
import type { StoredLink } from '../chain/ledger-row.ts';
import { listedTime } from '../platform/database/record-time.ts';

export interface NewLedgerRow extends StoredLink {
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
/** The server reads a whole message before the rows in it. */
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
  const tenant = uuidBytes(tenantId);
  let stream = tenant;
  let streamId = tenantId;
  let position = place.firstPosition;
  for (const row of rows) {
    const { columns } = row;
    writer.beginRow();
    writer.field(tenant);
    writer.time(place.receivedAt);
    writer.int64(position++);
    if (row.stream !== streamId) {
      streamId = row.stream;
      stream = uuidBytes(streamId);
    }
    writer.field(stream);
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

function uuidBytes(uuid: string): Uint8Array {
  const bytes = new Uint8Array(16);
  writeUuid(uuid, bytes, 0);
  return bytes;
}

/** The digit of a character code: 16 for other characters, undefined beyond `f`. */
const HEX_DIGITS = Uint8Array.from({ length: 103 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? 16 : digit;
});

/** @throws TypeError for anything but a UUID */
function writeUuid(uuid: string, to: Uint8Array, at: number): void {
  let digits = 0;
  for (let i = 0; i < uuid.length; i++) {
    const code = uuid.charCodeAt(i);
    if (code === 0x2d) continue;
    const digit = HEX_DIGITS[code] ?? 16;
    if (digit === 16 || digits === 32) throw new TypeError('a UUID was expected');
    const byte = at + (digits >> 1);
    to[byte] = digits++ % 2 === 0 ? digit << 4 : (to[byte] as number) | digit;
  }
  if (digits !== 32) throw new TypeError('a UUID was expected');
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
    this.#int32(value.byteLength);
    this.#buffer.set(value, this.#at);
    this.#at += value.byteLength;
  }

  text(value: string | null): void {
    if (value === null) {
      this.#int32(-1);
      return;
    }
    const length = this.#buffer.write(value, this.#at + 4);
    this.#int32(length);
    this.#at += length;
  }

  uuid(value: string | null): void {
    if (value === null) {
      this.#int32(-1);
      return;
    }
    this.#int32(16);
    writeUuid(value, this.#buffer, this.#at);
    this.#at += 16;
  }

  int32(value: number): void {
    if (value !== (value | 0)) throw new RangeError('an integer of 32 bits was expected');
    this.#int32(4);
    this.#int32(value);
  }

  int64(value: number): void {
    if (!Number.isSafeInteger(value)) throw new RangeError('an integer was expected');
    this.#int32(8);
    this.#int32(Math.floor(value / 2 ** 32));
    this.#int32(value >>> 0);
  }

  /** @param ms since 1970; NaN throws */
  time(ms: number): void {
    this.int64((ms - PG_EPOCH_MS) * 1000);
  }

  end(): Buffer {
    this.#at = this.#buffer.writeInt16BE(-1, this.#at);
    this.#endMessage();
    this.#at = this.#buffer.writeUInt8(COPY_DONE, this.#at);
    this.#at = this.#buffer.writeInt32BE(4, this.#at);
    return this.#buffer.subarray(0, this.#at);
  }

  /** The buffer's own methods repeat checks already made here, and took most of the time. */
  #int32(value: number): void {
    const buffer = this.#buffer;
    const at = this.#at;
    buffer[at] = value >>> 24;
    buffer[at + 1] = value >>> 16;
    buffer[at + 2] = value >>> 8;
    buffer[at + 3] = value;
    this.#at = at + 4;
  }

  #beginMessage(): void {
    this.#messageAt = this.#at;
    this.#buffer.writeUInt8(COPY_DATA, this.#at);
    this.#at += MESSAGE_HEAD;
  }

  #endMessage(): void {
    // The length includes itself, but not the type byte.
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
 * When the server waits for COPY data, `pg` calls this method of the query, which by default fails
 * with "no source stream defined". Everything else (errors, time limits, the end) is as with any
 * other query.
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
