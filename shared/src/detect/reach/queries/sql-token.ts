/** One word or sign of SQL. */
export interface SqlToken {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'sign';
  /** A word in capitals; a name or a string without its quotes. */
  readonly text: string;
  /** In dollars, as PostgreSQL quotes the bodies of functions: it may be SQL itself. */
  readonly isBody?: true;
}
