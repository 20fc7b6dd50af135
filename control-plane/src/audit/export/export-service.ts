/**
 * The export of the audit trail, a page at a time, in the order of receipt. An export covers the
 * trail as it was when the export began, so that its total is exact and its own audit records are
 * not in it. A page is read in steps, so that only one step is in memory. Proven by
 * export-routes.pg.test.ts.
 */
import { AppError } from '@governance/shared/errors';
import type { TenantDatabase, TenantScope } from '../../platform/database/tenant-scope.ts';
import type { MasterKey } from '../../platform/keys/master-key.ts';
import { createShares } from '../../platform/shares.ts';
import { type EventMetadata, toEventMetadata } from './event-metadata.ts';
import { type Cursor, createExportCursors, wrongCursor } from './export-cursor.ts';
import { type ExportRange, exportStore } from './export-store.ts';

/** Limits of a step; a record has up to 256 KiB, and usually 1 KiB. */
const STEP = { limit: 1_000, bytes: 4 * 1024 * 1024 };
/** Exports under way in this process. */
const AT_ONCE = { total: 16, perTenant: 4 };

const TOO_MANY = 'The limit of concurrent exports is reached: try again once one has ended.';

export interface ExportRequest {
  format: string;
  from: Date | undefined;
  to: Date | undefined;
  cursor: string | undefined;
  limit: number;
}

export interface ExportPage {
  total: number;
  nextCursor: string | undefined;
  /** The events of this page, read while the caller consumes them. */
  events(): AsyncGenerator<EventMetadata>;
  /** Releases the export's slot; call it once the page was sent or its reader is gone. */
  release(): void;
}

export type ExportService = ReturnType<typeof createExportService>;

export interface ExportServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  masterKey: Pick<MasterKey, 'tag' | 'isTag'>;
}

export function createExportService({ db, masterKey }: ExportServiceDeps) {
  const cursors = createExportCursors(masterKey);
  const shares = createShares(AT_ONCE);

  async function* read(scope: TenantScope, range: ExportRange, page: Page) {
    let after = page.after;
    while (after < page.last) {
      const stretch = { after, until: page.last };
      const rows = await db.inTenant(scope, (tx) => exportStore(tx).read(range, stretch, STEP));
      for (const row of rows) yield toEventMetadata(row);
      const end = rows.at(-1);
      if (!end) throw new Error('events of the page were removed while it was read');
      after = end.position;
    }
  }

  return {
    /** @throws AppError VALIDATION_FAILED for a wrong cursor, RATE_LIMITED */
    open: async (scope: TenantScope, request: ExportRequest): Promise<ExportPage> => {
      const { tenantId } = scope;
      const given =
        request.cursor === undefined ? undefined : cursors.read(tenantId, request.cursor);
      if (given) requireSameRange(given, request);
      const release = shares.take(tenantId, 1);
      if (!release) throw new AppError('RATE_LIMITED', TOO_MANY, { retryAfterSeconds: 5 });
      try {
        const range = rangeOf(given, request);
        const plan = await db.inTenant(scope, async (tx) => {
          const plan = await planPage(exportStore(tx), range, given, request.limit);
          tx.audit.append({
            action: 'audit_exported',
            target: `tenant/${tenantId}`,
            details: detailsOf(request, range, plan),
          });
          return plan;
        });
        const { total, page, isLast } = plan;
        const bounds = { after: page.last, until: plan.until, total, ...toMillis(range) };
        return {
          total,
          nextCursor: isLast ? undefined : cursors.write(tenantId, bounds),
          events: () => read(scope, range, page),
          release,
        };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

/** Positions: after < position <= last. An empty page has the same number in both. */
interface Page {
  after: number;
  last: number;
  events: number;
}

async function planPage(
  store: ReturnType<typeof exportStore>,
  range: ExportRange,
  given: Cursor | undefined,
  limit: number,
) {
  const newest = await store.newestPosition();
  if (given && given.until > newest) throw wrongCursor('belongs to another audit trail');
  const until = given?.until ?? newest;
  const total = given?.total ?? (await store.count(range, { after: 0, until }));
  const after = given?.after ?? 0;
  const found = await store.positions(range, { after, until }, limit + 1);
  const own = found.slice(0, limit);
  const page: Page = { after, last: own.at(-1) ?? after, events: own.length };
  return { until, total, page, isLast: found.length <= limit };
}

function rangeOf(given: Cursor | undefined, { from, to }: ExportRequest): ExportRange {
  if (!given) return { from: from ?? null, to: to ?? null };
  const toDate = (ms: number | null) => (ms === null ? null : new Date(ms));
  return { from: toDate(given.from), to: toDate(given.to) };
}

function toMillis({ from, to }: ExportRange) {
  return { from: from?.getTime() ?? null, to: to?.getTime() ?? null };
}

/** A cursor continues its own export; parameters left out of the query come from it. */
function requireSameRange(given: Cursor, { from, to }: ExportRequest): void {
  const isOther = (asked: Date | undefined, own: number | null) =>
    asked !== undefined && asked.getTime() !== own;
  if (isOther(from, given.from) || isOther(to, given.to)) {
    throw wrongCursor('belongs to an export with another from or to');
  }
}

function detailsOf(
  { format }: ExportRequest,
  { from, to }: ExportRange,
  { page, until }: { page: Page; until: number },
) {
  return {
    format,
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    after_position: page.after,
    until_position: until,
    events: page.events,
  };
}
