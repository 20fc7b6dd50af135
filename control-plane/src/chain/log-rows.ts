/** The log's rows, read a page at a time for verification. */
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { logTreeRows } from './log-tree-rows.ts';
import { signedPlaceRows } from './signed-place-rows.ts';

export type LogStore = ReturnType<typeof logRows>;

export const logRows = (tx: TenantTransaction) => ({ ...logTreeRows(tx), ...signedPlaceRows(tx) });
