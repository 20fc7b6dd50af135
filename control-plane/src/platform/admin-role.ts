/** The roles of a tenant's administrators; http/role-table.ts says what each may do. */
import { z } from 'zod';

export const AdminRole = z.enum(['admin', 'approver', 'auditor']);
export type AdminRole = z.infer<typeof AdminRole>;
