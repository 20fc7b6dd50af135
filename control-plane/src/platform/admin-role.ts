/** What an administrator of a tenant is; http/role-table.ts says what each may do. */
import { z } from 'zod';

export const AdminRole = z.enum(['admin', 'approver', 'auditor']);
export type AdminRole = z.infer<typeof AdminRole>;
