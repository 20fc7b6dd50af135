/**
 * In SQL, the columns of the table `c` (a row of pg_class) that a backup has: those that PostgreSQL
 * generates take no values.
 */
export const STORED_COLUMNS = `(
  SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
  WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
)`;
