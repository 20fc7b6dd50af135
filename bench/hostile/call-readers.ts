/** What reads the arguments of a call on its way: how far it reaches, and what is kept of it. */
import { protectionOf } from '@governance/data-plane/enforcement/payloads/protection';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { DEFAULT_BLAST_RADIUS } from '@governance/shared/detect/reach/blast-radius-settings';
import { createReachFinder } from '@governance/shared/detect/reach/reach';
import { uuidv7 } from '@governance/shared/ids';
import { createIdentifierHash } from '@governance/shared/keys/identifier-hash';
import { KEPT_SHAPES, REACH_SHAPES } from './call-shapes.ts';
import type { Reader } from './growth.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const findReach = createReachFinder({
  ...DEFAULT_BLAST_RADIUS,
  config_path_prefixes: ['/etc/', '~/.ssh/', 'c:\\windows\\'],
  protected_file_patterns: ['*.pem', '.ssh/*', 'a*b*/x*y'],
});

/** Removes fields and matches, and hashes identifiers: the most that a tenant can set. */
function protect(value: unknown): unknown {
  const settings = {
    data_protection: {
      payload_mode: 'redacted',
      redact_dlp_matches: true,
      redact_fields: ['secret'],
      hash_identifiers: true,
      sealing_key: null,
    },
  } as unknown as BundleSettings;
  const { protection } = protectionOf(settings);
  if (protection === null) throw new TypeError('nothing is protected');
  return protection.protect(value, {
    part: 'input',
    agent: { id: uuidv7(), name: 'robot', owner: 'robot@example.com' },
    requesterId: 'user@example.com',
    otherRequesters: [],
    hash: createIdentifierHash(uuidv7(), new Uint8Array(32)),
  });
}

const parsed = (bytes: Buffer) => JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;

export const CALL_READERS: Reader[] = [
  {
    name: 'the reach of a call',
    shapes: REACH_SHAPES,
    sizes: [MIB / 8, MIB / 4, MIB / 2, MIB - KIB],
    read: (bytes) => findReach({ name: 'delete_file', action: 'delete', args: parsed(bytes) }),
  },
  {
    // On a scan thread where it is large; a scan ends there after ten seconds.
    name: 'what is kept of a call',
    shapes: KEPT_SHAPES,
    sizes: [MIB / 16, MIB / 8, MIB / 4],
    read: (bytes) => protect({ request: { parameters: parsed(bytes) } }),
  },
];
