/**
 * Applies the migrations and ends: for operators whose service may not own its tables.
 * `DATABASE_MIGRATION_URL=postgresql://… npx tsx prisma/migrate.ts`
 */
import { migrateDatabase } from '@governance/control-plane/platform/migrations';

const url = process.env.DATABASE_MIGRATION_URL || process.env.DATABASE_URL;
if (!url) {
  console.error('DATABASE_MIGRATION_URL (or DATABASE_URL) must name the database to migrate.');
  process.exit(1);
}
const applied = await migrateDatabase(url);
console.log(applied.length > 0 ? `applied: ${applied.join(', ')}` : 'the schema is up to date');
