/**
 * Says which stored row cannot be shown. Rows can be damaged where nobody looks (a disk, a restore, an
 * owner's UPDATE), and a list that answers 500 and names nothing hides all the others. Proven by
 * damaged-rows.pg.test.ts.
 */
import { AppError } from '@governance/shared/errors';
import type { FastifySerializerCompiler } from 'fastify';
import { createSerializerCompiler, isResponseSerializationError } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { PrismaClient } from '../generated/client.ts';

/** @param row its table, and what names it there */
export function damagedRow(row: string, fault: string, cause?: unknown): AppError {
  const detail = `A stored row cannot be shown: ${row}: ${fault}. It was changed or damaged in the database: restore it from a backup.`;
  return new AppError('STORED_ROW_DAMAGED', detail, { cause });
}

/**
 * Reads what a row keeps as text or JSON.
 *
 * @param row its table, and what names it there
 * @throws AppError STORED_ROW_DAMAGED
 */
export function readStored<T extends z.ZodType>(
  schema: T,
  value: unknown,
  row: string,
): z.infer<T> {
  const { data, error } = schema.safeParse(value);
  if (!error) return data;
  const [issue] = error.issues;
  const place = issue && issue.path.length > 0 ? `${issue.path.join('.')} of ` : '';
  throw damagedRow(row, `${place}a value of it cannot be read (${issue?.message})`, error);
}

/**
 * A stored time that no Date can hold, such as `infinity`. It is an invalid Date, which only fails,
 * and names its row, where it is to be shown.
 */
class DamagedTime extends Date {
  readonly #place: readonly [row: string, column: string];

  constructor(row: string, column: string) {
    super(Number.NaN);
    this.#place = [row, column];
  }

  override toISOString(): string {
    const [row, column] = this.#place;
    throw damagedRow(row, `${column} is no time that can be shown`);
  }
}

/** The same client; its rows name themselves where a time of theirs cannot be shown. */
export function namingDamage(prisma: PrismaClient): PrismaClient {
  const extended = prisma.$extends({
    query: {
      $allModels: {
        $allOperations: async ({ model, args, query }) => {
          const result: unknown = await orNamed(query(args), tableOf(model), args);
          nameTimes(result, tableOf(model), (args ?? {}) as Joined);
          return result as never;
        },
      },
      $queryRaw: async ({ args, query }) => {
        const table = /\bFROM ([a-z_]+)/.exec(args.sql)?.[1] ?? 'a query';
        const result: unknown = await orNamed(query(args), table, args.values);
        nameTimes(result, table, {});
        return result;
      },
    },
  });
  // The extension adds nothing to the client's methods.
  return extended as unknown as PrismaClient;
}

/** Prisma's "inconsistent column data", as of an array with a null, and "value out of range". */
const UNREADABLE = new Set(['P2020', 'P2023']);
/** PostgreSQL's data exceptions, as of a text that was JSON: Prisma has the code in its text only. */
const DATA_EXCEPTION = /Code: `22\w{3}`/;

/** Names the table whose rows a query could not read, or that a damaged time it asks with is of. */
async function orNamed(result: Promise<unknown>, table: string, args: unknown): Promise<unknown> {
  try {
    return await result;
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    const inSql = code === 'P2010' && DATA_EXCEPTION.test(message ?? '');
    if (inSql || (code !== undefined && UNREADABLE.has(code))) {
      throw damagedRow(table, 'a value cannot be read', error);
    }
    findTime(args)?.toISOString();
    throw error;
  }
}

/** @param depth of the arguments of a query, which nest a few levels */
function findTime(args: unknown, depth = 6): DamagedTime | undefined {
  if (args instanceof DamagedTime) return args;
  if (typeof args !== 'object' || args === null || args instanceof Date || depth === 0) {
    return undefined;
  }
  if (ArrayBuffer.isView(args)) return undefined;
  for (const value of Object.values(args)) {
    const found = findTime(value, depth - 1);
    if (found) return found;
  }
  return undefined;
}

interface Joined {
  include?: Record<string, unknown>;
  select?: Record<string, unknown>;
}

function nameTimes(result: unknown, table: string, joined: Joined): void {
  if (typeof result !== 'object' || result === null) return;
  if (Array.isArray(result)) {
    for (const row of result) nameTimes(row, table, joined);
    return;
  }
  const row = result as Record<string, unknown>;
  for (const [column, value] of Object.entries(row)) {
    if (value instanceof Date) {
      if (Number.isNaN(value.getTime())) {
        row[column] = new DamagedTime(nameOf(row, table), snake(column));
      }
      continue;
    }
    // Rows of other tables; what is JSON here is not searched.
    const other = joined.include?.[column] ?? joined.select?.[column];
    if (typeof other === 'object' && other !== null) nameTimes(value, column, other as Joined);
    else if (other === true && joined.include) nameTimes(value, column, {});
  }
}

/** Serialises as the library does; an answer that breaks its schema names the row that does. */
export const namingSerializer: FastifySerializerCompiler<unknown> = (route) => {
  const serialize = serializerCompiler(route as Parameters<typeof serializerCompiler>[0]);
  return (answer) => {
    try {
      return serialize(answer);
    } catch (error) {
      if (!isResponseSerializationError(error)) throw error;
      throw findDamage(answer, error.cause.issues) ?? error;
    }
  };
};

interface Issue {
  path: readonly PropertyKey[];
  message: string;
}

function findDamage(answer: unknown, [issue]: readonly Issue[]): AppError | undefined {
  if (!issue) return undefined;
  let value: unknown = answer;
  let list = '';
  let found: { row: string; from: number } | undefined;
  for (const [index, step] of [...issue.path, ''].entries()) {
    if (typeof value !== 'object' || value === null) break;
    const name = Array.isArray(value) ? undefined : findName(value as Record<string, unknown>);
    if (name !== undefined) found = { row: `${list} ${name}`.trim(), from: index };
    if (typeof step === 'string') list = step;
    value = (value as Record<PropertyKey, unknown>)[step];
  }
  // Some are known by their place alone.
  const { row, from } = found ?? { row: 'a row of the answer', from: 0 };
  const column = issue.path.slice(from).join('.');
  return damagedRow(row, `${column} is no value that can be shown (${issue.message})`, issue);
}

/** What rows without an id are known by, as tables and as answers name it. */
const NAMES = [
  'id',
  'server_id',
  'serverId',
  'deployment_id',
  'deploymentId',
  'agent_id',
  'agentId',
];
const FURTHER_NAMES = [
  'event_id',
  'purpose',
  'tool_name',
  'toolName',
  'number',
  'revision',
  'size',
];

function findName(row: Record<string, unknown>): string | undefined {
  const key = [...NAMES, ...FURTHER_NAMES].find((name) =>
    /^(string|number|bigint)$/.test(typeof row[name]),
  );
  return key === undefined ? undefined : String(row[key]).slice(0, 100);
}

const nameOf = (row: Record<string, unknown>, table: string): string =>
  [table, findName(row)].filter((part) => part !== undefined).join(' ');

/** As prisma/schema.prisma names the tables of its models. */
function tableOf(model: string): string {
  const name = snake(model);
  if (name.endsWith('s')) return name;
  return name.replace(/y$/, 'ie').replace(/ch$/, 'che').concat('s');
}

/** As the database spells it: `AgentCredential` and `createdAt`. */
const snake = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();

const serializerCompiler = createSerializerCompiler({});
