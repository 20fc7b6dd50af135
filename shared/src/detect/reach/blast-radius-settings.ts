/** The bounds of one call's blast radius, as carried by a bundle (specification 1, section 2). */
import { z } from 'zod';
import { VisibleText } from '../../text.ts';

/** Prefixes, and patterns, that a tenant may have. */
const MAX_ENTRIES = 200;

/** A path from its root: `/etc/`, `~/.ssh/`, `C:\Windows\`, `s3://bucket/`. */
const ConfigPathPrefix = VisibleText.max(1_024)
  .refine(
    (prefix) => /^(?:[/~]|[a-z]:|\\\\|[a-z][a-z0-9+.-]{1,20}:\/\/)/i.test(prefix),
    'must begin at a root: with a slash, ~, a drive or a scheme',
  )
  .refine((prefix) => !prefix.includes('*'), 'must not have a wildcard: it is a prefix');

/** A file's name with `*` for any characters, or a path with `*` and `**`. */
const ProtectedFilePattern = VisibleText.max(256).refine(
  (pattern) => pattern.split('*').length <= 17,
  'must not have more than 16 stars',
);

export const BLAST_RADIUS_FIELDS = {
  /** Recipients that one call may have; with more, a person has to approve. */
  email_recipient_limit: z.int().min(0).max(1_000_000),
  /** A path with fewer segments may not be deleted; 0 allows all. */
  min_delete_depth: z.int().min(0).max(64),
  /** Things that one call may change; with more, a person has to approve. */
  bulk_action_threshold: z.int().min(1).max(1_000_000),
  config_path_prefixes: z.array(ConfigPathPrefix).max(MAX_ENTRIES),
  protected_file_patterns: z.array(ProtectedFilePattern).max(MAX_ENTRIES),
};

export const BlastRadiusSettings = z.object(BLAST_RADIUS_FIELDS);
export type BlastRadiusSettings = z.infer<typeof BlastRadiusSettings>;

/** The specification's defaults, used where a tenant set nothing. */
export const DEFAULT_BLAST_RADIUS: BlastRadiusSettings = {
  email_recipient_limit: 50,
  min_delete_depth: 2,
  bulk_action_threshold: 100,
  config_path_prefixes: ['/etc/', '/usr/local/etc/'],
  protected_file_patterns: ['*.pem', '*.key', '*.env'],
};
