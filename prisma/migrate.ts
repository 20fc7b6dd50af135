/**
 * Applies the migrations and ends: for operators whose service may not own its tables.
 * `DATABASE_MIGRATION_URL=postgresql://… npx tsx prisma/migrate.ts`
 */
import { describeDatabaseFailure } from '@governance/control-plane/platform/database/database-failure';
import { migrateDatabase } from '@governance/control-plane/platform/database/migrations';
import { StartError } from '@governance/shared/process/start-error';

const { DATABASE_MIGRATION_URL, DATABASE_URL } = process.env;
const url = DATABASE_MIGRATION_URL || DATABASE_URL;
if (!url) {
  console.error('DATABASE_MIGRATION_URL (or DATABASE_URL) must name the database to migrate.');
  process.exit(1);
}
try {
  const applied = await migrateDatabase(url);
  console.log(applied.length > 0 ? `applied: ${applied.join(', ')}` : 'the schema is up to date');
} catch (error) {
  const setting = DATABASE_MIGRATION_URL ? 'DATABASE_MIGRATION_URL' : 'DATABASE_URL';
  const described = describeDatabaseFailure(error, setting);
  if (!(described instanceof StartError)) throw error;
  console.error(described.message);
  process.exit(1);
}
