/** Reads the members of a package in order, and passes their content to the checks. */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { canonicalize } from '../../json/canonical-json.ts';
import { parseStrictJson, StrictJsonError } from '../../json/strict-json.ts';
import { LineTooLongError, readLines } from '../../process/read-lines.ts';
import { parseCheckpoint } from '../checkpoint.ts';
import { DsseEnvelope, payloadOf } from '../dsse.ts';
import { EvidenceKeys } from '../evidence-keys.ts';
import {
  BatchLine,
  BundleLine,
  CauseLine,
  EVIDENCE_MEMBERS,
  EventProofLine,
  EvidenceManifest,
  EvidenceProofs,
  manifestDigest,
  PayloadLine,
  VOLUME_LIMITS,
  WitnessLine,
} from '../evidence-package.ts';
import type { ArchiveMember } from '../ustar.ts';
import { createSignerSearch } from './batch-signer.ts';
import { viewBatch } from './batch-view.ts';
import type { CheckHooks, ReadProblem } from './check.ts';
import { findMisplaced } from './container.ts';
import { type BatchView, type Evidence, recordsOf } from './evidence.ts';
import { createKeyset, type KnownKey } from './keyset.ts';
import { type Location, lineOf } from './location.ts';
import { readRecordLine } from './read-record.ts';
import { readBoundaries } from './stream-boundaries.ts';
import { createStreamWalk, type StreamWalk } from './stream-walk.ts';
import { findTrustedKeys } from './trusted-keys.ts';

/** Who hears of what is read. */
interface Listeners {
  emit<K extends keyof CheckHooks>(hook: K, value?: Parameters<CheckHooks[K]>[0]): void;
  report(problem: ReadProblem): void;
}

/** Values and keys of a document; those of a line are bounded by its bytes. */
const MAX_NODES = 4_000_000;
const LINE_NODES = 100_000;
const MAX_BUNDLES = 10_000;
const LINE_FEED = 0x0a;

/** Members that are one document each, as the checkpoints are; the others have a value in each line. */
type DocumentName = (typeof EVIDENCE_MEMBERS)['manifest' | 'keys' | 'proofs'];
type LinesName = Exclude<(typeof EVIDENCE_MEMBERS)[keyof typeof EVIDENCE_MEMBERS], DocumentName>;

type ReadDocument = (bytes: Buffer | undefined) => void;

interface LinesReader {
  /** Lines, at most. */
  limit: number;
  read(line: number, bytes: Buffer): void;
}

const NO_KEYS: EvidenceKeys = { keys: [], rotations: [], writers: [], log_epochs: [] };
const NO_PROOFS: EvidenceProofs = { range: null, leaves: [], consistency: [], boundaries: [] };

export class PackageReader {
  hasManifest = false;
  events = 0;
  /** Where the reader is. */
  location: Location | null = null;
  /** SHA-256 of the manifest's payload. */
  manifestDigest: string | null = null;
  readonly #evidence: Evidence;
  readonly #emit: Listeners['emit'];
  readonly #report: Listeners['report'];
  readonly #names: string[] = [];
  #isComplete = false;
  #keys: EvidenceKeys | undefined;
  #proofs: EvidenceProofs | undefined;
  #inRange: BatchView[] = [];
  #walk: StreamWalk | undefined;
  #current = 0;
  #index = 0;
  #unread = 0;
  readonly #findSigner: (batch: BatchLine, line: number) => KnownKey | undefined;
  readonly #documents: Record<DocumentName, ReadDocument> = {
    [EVIDENCE_MEMBERS.manifest]: (bytes) => this.#readManifest(bytes),
    [EVIDENCE_MEMBERS.keys]: (bytes) => {
      this.#keys = this.#parse(EvidenceKeys, bytes);
    },
    [EVIDENCE_MEMBERS.proofs]: (bytes) => {
      this.#proofs = this.#parse(EvidenceProofs, bytes);
    },
  };
  readonly #lines: Record<LinesName, LinesReader> = {
    [EVIDENCE_MEMBERS.batches]: {
      limit: VOLUME_LIMITS.batches,
      read: (line, bytes) => this.#onLine(BatchLine, bytes, (value) => this.#batch(line, value)),
    },
    [EVIDENCE_MEMBERS.events]: {
      limit: VOLUME_LIMITS.events,
      read: (line, bytes) => this.#event(line, bytes),
    },
    [EVIDENCE_MEMBERS.eventProofs]: {
      limit: VOLUME_LIMITS.events,
      read: (line, bytes) => this.#emitLine('eventProof', EventProofLine, line, bytes),
    },
    [EVIDENCE_MEMBERS.causes]: {
      limit: VOLUME_LIMITS.causes,
      read: (line, bytes) => this.#onLine(CauseLine, bytes, (value) => this.#cause(line, value)),
    },
    [EVIDENCE_MEMBERS.bundles]: {
      limit: MAX_BUNDLES,
      read: (line, bytes) => this.#emitLine('bundle', BundleLine, line, bytes),
    },
    [EVIDENCE_MEMBERS.payloads]: {
      limit: VOLUME_LIMITS.payloads,
      read: (line, bytes) => this.#emitLine('payload', PayloadLine, line, bytes),
    },
    [EVIDENCE_MEMBERS.witness]: {
      limit: VOLUME_LIMITS.cosignatures,
      read: (line, bytes) => this.#emitLine('witness', WitnessLine, line, bytes),
    },
  };

  constructor(evidence: Evidence, { emit, report }: Listeners) {
    this.#evidence = evidence;
    this.#emit = emit;
    this.#report = report;
    this.#findSigner = createSignerSearch(evidence);
    Object.assign(evidence, {
      independence: 'self-asserted',
      keys: NO_KEYS,
      checkpoints: new Map(),
      proofs: NO_PROOFS,
      batches: new Map(),
      signers: new Map(),
      boundaries: [],
      isRepetitionCut: false,
      use: (use: Parameters<CheckHooks['keyUse']>[0]) => emit('keyUse', use),
    });
  }

  /** @returns false when nothing more can be read */
  async read(member: ArchiveMember): Promise<boolean> {
    const { name, size } = member;
    this.location = { member: name };
    const misplaced = findMisplaced(name, this.#names);
    if (misplaced !== undefined) {
      this.#problem('container.members', misplaced);
      return false;
    }
    this.#names.push(name);
    this.#emit('member', { name, size });
    const digest = createHash('sha256');
    const content = hashing(member.content, digest);
    try {
      if (!(await this.#readMember(name, content, size))) return false;
    } catch (error) {
      if (!(error instanceof LineTooLongError)) throw error;
      this.#problem('container.limits', 'a line is too long');
      return false;
    }
    if (!this.hasManifest) return false;
    this.#emit('file', { name, size, sha256: digest.digest('hex') });
    return true;
  }

  /** @returns whether everything could be read */
  finish(): boolean {
    if (!this.hasManifest) return false;
    this.#complete();
    // A missing member has no end that a check could receive.
    const { batches, events } = EVIDENCE_MEMBERS;
    this.#beginStreams();
    if (!this.#names.includes(batches)) this.#emit('batchesEnd');
    if (!this.#names.includes(events)) this.#emit('eventsEnd');
    return true;
  }

  /** @returns false for a member that nobody reads */
  async #readMember(name: string, content: AsyncIterable<Buffer>, size: number): Promise<boolean> {
    const readDocument = this.#documentReaderOf(name);
    const lines = findOwn(this.#lines, name);
    if (readDocument) {
      readDocument(await this.#whole(content, size));
    } else if (lines) {
      this.#complete();
      await this.#readLinesOf(name, lines, content);
    } else {
      this.#problem('container.members', 'a member has a name that nothing is read from');
      return false;
    }
    return true;
  }

  #documentReaderOf(name: string): ReadDocument | undefined {
    if (name.startsWith('checkpoints/')) return (bytes) => this.#readCheckpoint(name, bytes);
    return findOwn(this.#documents, name);
  }

  #readManifest(bytes: Buffer | undefined): void {
    const envelope = this.#parse(DsseEnvelope, bytes);
    if (!envelope) return;
    try {
      const payload = payloadOf(envelope);
      const manifest = this.#parse(EvidenceManifest, payload);
      if (!manifest) return;
      // Its bytes are signed: one manifest, one encoding.
      if (canonicalize(manifest) !== payload.toString('utf8')) {
        this.#problem('json.strict', 'the manifest is not in canonical form');
      }
      Object.assign(this.#evidence, { envelope, manifest });
      this.manifestDigest = manifestDigest(payload);
      this.hasManifest = true;
    } catch {
      this.#problem('json.strict', 'the payload of the envelope cannot be read');
    }
  }

  #readCheckpoint(name: string, bytes: Buffer | undefined): void {
    const size = Number(name.slice('checkpoints/'.length, -'.note'.length));
    try {
      // A byte order mark is kept, and is never part of an origin.
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      this.#evidence.checkpoints.set(size, parseCheckpoint(text));
    } catch {
      this.#problem('json.strict', 'the checkpoint cannot be read');
    }
  }

  /** All members before the first lines are read: the checks that need them run. */
  #complete(): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    const evidence = this.#evidence;
    const trusted = findTrustedKeys(evidence);
    evidence.keys = this.#keys ?? NO_KEYS;
    evidence.proofs = this.#proofs ?? NO_PROOFS;
    evidence.independence = trusted.independence;
    evidence.keyset = createKeyset(trusted.keys, evidence.keys);
    this.#emit('documents');
  }

  /** All batches are read: they place the records before the package. */
  #beginStreams(): StreamWalk {
    this.#walk ??= createStreamWalk(readBoundaries(this.#evidence));
    return this.#walk;
  }

  async #readLinesOf(
    name: string,
    { limit, read }: LinesReader,
    content: AsyncIterable<Buffer>,
  ): Promise<void> {
    const { batches, events } = EVIDENCE_MEMBERS;
    let line = 0;
    let lastByte: number | undefined = LINE_FEED;
    async function* watched(): AsyncGenerator<Buffer> {
      for await (const chunk of content) {
        lastByte = chunk.at(-1) ?? lastByte;
        yield chunk;
      }
    }
    for await (const bytes of readLines(watched(), VOLUME_LIMITS.lineBytes)) {
      line++;
      this.location = lineOf(name, line);
      if (line > limit) {
        this.#problem('container.limits', 'there are more lines than a volume may have');
        break;
      }
      read(line, bytes);
    }
    if (lastByte !== LINE_FEED) this.#problem('json.strict', 'the last line has no line feed');
    this.location = { member: name };
    if (name === batches) {
      this.#beginStreams();
      this.#emit('batchesEnd');
    }
    if (name !== events) return;
    this.#evidence.isRepetitionCut = this.#beginStreams().isRepeating();
    this.#emit('eventsEnd');
  }

  #emitLine<T extends z.ZodType>(
    hook: 'eventProof' | 'bundle' | 'payload' | 'witness',
    schema: T,
    line: number,
    bytes: Buffer,
  ): void {
    const emit = this.#emit as (hook: string, value: { line: number; value: z.infer<T> }) => void;
    this.#onLine(schema, bytes, (value) => emit(hook, { line, value }));
  }

  #cause(line: number, value: CauseLine): void {
    const batch = this.#evidence.batches.get(value.leaf_index);
    const read = readRecordLine(Buffer.from(value.record));
    this.#emit('cause', { ...read, line, batch, value });
  }

  #onLine<T extends z.ZodType>(schema: T, bytes: Buffer, use: (value: z.infer<T>) => void): void {
    const value = this.#parse(schema, bytes, LINE_NODES);
    if (value !== undefined) use(value);
  }

  #batch(line: number, batch: BatchLine): void {
    const { manifest, batches, signers } = this.#evidence;
    const view = viewBatch(line, batch, manifest, this.#findSigner(batch, line));
    if (view.signer) signers.set(view.stream, view.signer);
    batches.set(view.leafIndex, view);
    if (view.isInRange) this.#inRange.push(view);
    this.#emit('batch', view);
  }

  #event(line: number, bytes: Buffer): void {
    this.events++;
    const read = readRecordLine(bytes);
    if (read.isUnread && ++this.#unread === VOLUME_LIMITS.unread + 1) {
      this.#problem('container.limits', 'there are more unread records than a volume may have');
    }
    const isContiguous = this.#evidence.manifest.scope.kind === 'contiguous';
    const batch = isContiguous ? this.#inRange[this.#current] : undefined;
    const index = this.#index;
    if (batch) this.#advance(batch);
    const stream = read.place?.stream ?? batch?.stream;
    const walked =
      isContiguous && stream !== undefined
        ? this.#beginStreams().add({
            stream,
            epoch: read.place?.epoch ?? batch?.epoch ?? 0,
            seq: read.place?.seq ?? (batch ? batch.firstSeq + index : 0),
            hash: read.hash,
            // Its writer signed the hash before the batch's first record, whether or not that can
            // be read.
            prevHash: read.place?.prev_hash ?? (index === 0 ? batch?.prevHead : undefined),
            previous: read.place?.previous,
            isUnread: read.isUnread,
          })
        : { chain: {}, isRepeated: false, follows: undefined };
    this.#emit('event', { ...read, ...walked, line, batch, index });
  }

  #advance(batch: BatchView): void {
    this.#index++;
    if (this.#index < recordsOf(batch)) return;
    this.#current++;
    this.#index = 0;
  }

  async #whole(content: AsyncIterable<Buffer>, size: number): Promise<Buffer | undefined> {
    const isTooLarge = size > VOLUME_LIMITS.documentBytes;
    if (isTooLarge) this.#problem('container.limits', 'the member is too large');
    const parts: Buffer[] = [];
    for await (const part of content) if (!isTooLarge) parts.push(part);
    return isTooLarge ? undefined : Buffer.concat(parts);
  }

  #parse<T extends z.ZodType>(
    schema: T,
    bytes: Buffer | undefined,
    maxNodes = MAX_NODES,
  ): z.infer<T> | undefined {
    if (!bytes) return undefined;
    try {
      const value = parseStrictJson(bytes, { maxDepth: VOLUME_LIMITS.jsonDepth, maxNodes });
      const parsed = schema.safeParse(value);
      if (parsed.success) {
        if (this.location) this.#emit('json', this.location);
        return parsed.data;
      }
      const path = parsed.error.issues[0]?.path.map(String).join('/').slice(0, 200) ?? '';
      const location = { member: '', ...this.location, path };
      this.#problem('json.strict', 'it is not of the format', location);
    } catch (error) {
      const detail = error instanceof StrictJsonError ? error.message : 'it cannot be read';
      this.#problem('json.strict', detail);
    }
    return undefined;
  }

  #problem(
    check: ReadProblem['check'],
    detail: string,
    location: Location | null = this.location,
  ): void {
    this.#report({ check, detail, location });
  }
}

/** @param name caller-controlled */
function findOwn<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

async function* hashing(
  content: AsyncIterable<Buffer>,
  digest: ReturnType<typeof createHash>,
): AsyncGenerator<Buffer> {
  for await (const chunk of content) {
    digest.update(chunk);
    yield chunk;
  }
}
