/**
 * One forgery for each attack on a package, with the check that must find it. Most are re-signed
 * with the issuer's own key, so that no earlier check detects them.
 */

import type { CheckName } from '@governance/shared/evidence/checks/check';
import { signRotation } from '@governance/shared/evidence/evidence-keys';
import type { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { DISPUTE_FORGERIES } from './disputes.ts';
import type { Forgery } from './forgery.ts';
import { SELECTIVE } from './good-packages.ts';
import { KEY_FORGERIES } from './key-forgeries.ts';
import { LARGE_RECORD_FORGERIES } from './large-record-forgeries.ts';
import { LIES } from './lying-planes.ts';
import {
  aPackage,
  type Members,
  type PackageParts,
  type PackageRequest,
  packMembers,
  sealPackage,
  streamsOf,
} from './package-builder.ts';
import { RESTORE_FORGERIES } from './restore-forgeries.ts';
import { anEd25519Key, idOf } from './test-keys.ts';
import { aDelegation, anApproval, aStory, type Story } from './test-stories.ts';
import { type TestStream, TestTenant, timeOf } from './test-tenant.ts';
import { WITNESS_FORGERIES } from './witnessed-packages.ts';

/** The anchor of the stories: the log after its first leaves. */
const PINNED = 3;

/** A package that somebody changed and then signed with the issuer's key. */
function forged(
  name: string,
  check: CheckName,
  change: (parts: PackageParts, story: Story) => void,
  request: PackageRequest = {},
): Forgery {
  const make = () => {
    const story = aStory();
    const { tenant } = story;
    anApproval(story);
    aDelegation(story);
    const anchor = tenant.anchor(PINNED);
    const parts = aPackage(tenant, { anchorSizes: [PINNED], payloads: true, ...request });
    change(parts, story);
    return { bytes: packMembers(sealPackage(parts, tenant.keys.evidence)), anchor };
  };
  return { name, check, make };
}

/** A tenant with a different history, packed correctly. */
/**
 * Before the package a batch [R, U], of which U is unreadable; in the package a batch with another
 * record in R's place.
 */
function forkBehind(
  tenant: TestTenant,
  one: TestStream,
  given: Parameters<TestTenant['decide']>[1],
): PackageRequest {
  const before = { seq: one.seq, head: one.head };
  const unread = Buffer.from('nothing');
  tenant.decide(one);
  one.addUnreadable(unread);
  one.ship();
  tenant.wait(60);
  const [from, start] = [tenant.now(), tenant.leaves.length];
  tenant.decide(one);
  const [later] = one.waiting;
  const { seq, head } = one;
  one.ship();
  Object.assign(one, before);
  tenant.decide(one, given);
  one.addUnreadable(unread);
  one.waiting.push(later as Buffer);
  Object.assign(one, { seq, head });
  one.ship();
  return { start, from };
}

function staged(
  name: string,
  check: CheckName,
  stage: (story: Story, anchor: TrustAnchor) => PackageRequest | undefined,
): Forgery {
  const make = () => {
    const story = aStory();
    const { tenant } = story;
    const anchor = tenant.anchor(PINNED);
    const request = stage(story, anchor) ?? {};
    const parts = aPackage(tenant, { anchorSizes: [PINNED], ...request });
    return { bytes: packMembers(sealPackage(parts, tenant.keys.evidence)), anchor };
  };
  return { name, check, make };
}

/** Members changed after they were signed. */
function tampered(name: string, check: CheckName, change: (members: Members) => Members): Forgery {
  const make = () => {
    const { tenant } = aStory();
    const parts = aPackage(tenant, { anchorSizes: [PINNED] });
    const members = sealPackage(parts, tenant.keys.evidence);
    return { bytes: packMembers(change(members)), anchor: tenant.anchor(PINNED) };
  };
  return { name, check, make };
}

function edit(parts: PackageParts, at: number, change: (record: Record<string, unknown>) => void) {
  const record = JSON.parse(String(parts.events[at]));
  change(record);
  parts.events[at] = Buffer.from(canonicalize(record));
  parts.manifest.streams = streamsOf(parts.events);
}

const inMember = (name: string, change: (text: string) => string) => (members: Members) =>
  members.map(([own, content]): Members[number] =>
    own === name ? [own, Buffer.from(change(content.toString('utf8')))] : [own, content],
  );

export const FORGERIES: readonly Forgery[] = [
  tampered('a member that the format does not know', 'container.members', (members) => [
    ...members,
    ['extra.txt', Buffer.from('x')],
  ]),
  tampered('a member twice', 'container.members', (members) => [
    ...members,
    members.at(-1) as Members[number],
  ]),
  tampered('members in another order', 'container.members', ([manifest, keys, ...rest]) => [
    manifest as Members[number],
    ...rest,
    keys as Members[number],
  ]),
  tampered('a line that is too long', 'container.limits', (members) =>
    inMember('batches.ndjson', (text) => `${text}"${'x'.repeat(1024 * 1024)}"\n`)(members),
  ),
  tampered('the same key twice in an object', 'json.strict', (members) =>
    inMember('keys.json', (text) => text.replace('{', '{"keys":[],'))(members),
  ),
  tampered('a key __proto__', 'json.strict', (members) =>
    inMember('proofs.json', (text) => text.replace('{', '{"__proto__":{},'))(members),
  ),
  tampered('a manifest that was edited', 'manifest.signature', ([manifest, ...rest]) => {
    const envelope = JSON.parse(String(manifest?.[1]));
    const payload = Buffer.from(envelope.payload, 'base64').toString('utf8');
    const other = payload.replace('"number":1', '"number":2');
    envelope.payload = Buffer.from(other).toString('base64');
    return [['manifest.dsse.json', Buffer.from(canonicalize(envelope))], ...rest];
  }),
  tampered('a file that was exchanged', 'files.digest', (members) =>
    inMember('bundles.ndjson', () => '')(members),
  ),
  forged('a record that was edited', 'batch.root', (parts) =>
    edit(parts, 3, (record) => Object.assign(record, { target: 'another' })),
  ),
  forged('a record that was edited, to the next one', 'chain.links', (parts) =>
    edit(parts, 2, (record) => Object.assign(record, { target: 'another' })),
  ),
  forged('a record in another writing', 'events.canonical', (parts) => {
    parts.events[3] = Buffer.from(`${String(parts.events[3]).slice(0, -1)} }`);
  }),
  forged('a record of no schema', 'events.schema', (parts) =>
    edit(parts, 3, (record) => Object.assign(record, { other: 1 })),
  ),
  forged('a record that can be read, said to be unreadable', 'events.schema', (parts) => {
    const text = (parts.events[3] as Buffer).toString('base64');
    parts.events[3] = Buffer.from(canonicalize({ unread_record: text }));
  }),
  forged('a record that was taken out', 'chain.sequence', (parts) => {
    parts.events.splice(3, 1);
    parts.manifest.streams = streamsOf(parts.events);
  }),
  forged('a record that was taken out, and the next numbered anew', 'chain.links', (parts) => {
    const [gone] = parts.events.splice(3, 1);
    const { seq } = JSON.parse(String(gone));
    edit(parts, 3, (record) => Object.assign(record, { seq }));
  }),
  forged('a record that was taken out, to its batch', 'scope.complete', (parts) => {
    parts.events.splice(3, 1);
  }),
  forged('two records that were exchanged', 'chain.links', (parts) => {
    const [first, second] = parts.events.slice(3, 5) as [Buffer, Buffer];
    parts.events.splice(3, 2, second, first);
  }),
  forged('a head that was cut', 'chain.start', (parts) => {
    parts.events.splice(2, 1);
    parts.manifest.streams = streamsOf(parts.events);
  }),
  forged(
    'a boundary that is another record',
    'chain.start',
    (parts) => {
      const [boundary] = parts.proofs.boundaries;
      if (boundary) boundary.record = boundary.record.replace('read_file', 'read_fine');
    },
    { start: 5, from: timeOf(100) },
  ),
  forged('a boundary within the time', 'scope.complete', () => {}, { start: 5 }),
  forged('a tail that was cut', 'chain.head', (parts) => {
    parts.events.pop();
  }),
  forged('a batch that was taken out with its records', 'log.inclusion', (parts) => {
    const [batch] = parts.batches.splice(-1);
    const count = (batch?.header.last_seq ?? 0) - (batch?.header.first_seq ?? 0) + 1;
    parts.events.splice(-count);
    parts.manifest.streams = streamsOf(parts.events);
  }),
  forged('a batch that was taken out, to its range', 'scope.complete', (parts) => {
    parts.batches.splice(-1);
  }),
  staged(
    'a place that is written twice before a record that nobody can read',
    'chain.links',
    ({ tenant, one }) => {
      const { seq, head } = one;
      const unread = Buffer.from('nothing');
      tenant.decide(one);
      one.addUnreadable(unread);
      one.ship();
      Object.assign(one, { seq, head });
      tenant.decide(one, { tool_name: 'delete_file' });
      one.addUnreadable(unread);
      tenant.decide(one);
      one.ship();
      return undefined;
    },
  ),
  staged(
    'a batch that begins with a record that nobody can read, behind another one than was signed',
    'chain.links',
    ({ one }) => {
      one.head = recordHash(Buffer.from('another'));
      one.addUnreadable(Buffer.from('nothing'));
      one.ship();
      return undefined;
    },
  ),
  staged(
    'another record in the place of one before a package, behind which nobody can read one',
    'chain.links',
    ({ tenant, one }) => forkBehind(tenant, one, { tool_name: 'delete_file' }),
  ),
  staged(
    'a batch that repeats an unread record of before a package, as if behind another one',
    'chain.links',
    ({ tenant, one }) => {
      const request = forkBehind(tenant, one, { tool_name: 'delete_file' });
      const again = tenant.leaves.pop()?.records ?? [];
      one.waiting = again.slice(1);
      one.ship();
      return request;
    },
  ),
  staged(
    'records of the time that are left out behind one that nobody can read',
    'scope.complete',
    ({ tenant, one }) => {
      tenant.wait(60);
      const from = tenant.now();
      tenant.decide(one);
      one.addUnreadable(Buffer.from('nothing'));
      one.ship();
      const start = tenant.leaves.length;
      tenant.decide(one);
      one.ship();
      return { start, from };
    },
  ),
  staged(
    'an epoch that does not name the end of the one before',
    'chain.epochs',
    ({ tenant, one }) => {
      one.epoch++;
      one.seq = 0;
      one.add({
        type: 'epoch_start',
        previous: { epoch: 2, last_seq: 1, head: recordHash(Buffer.from('cut')) },
        reason: 'boot',
        writer_version: '0.1.0',
        bundle_revision: null,
      });
      tenant.decide(one);
      one.ship();
      return undefined;
    },
  ),
  forged('records of another tenant', 'tenant.binding', (parts) => {
    const other = aStory('other').tenant;
    const theirs = aPackage(other);
    parts.batches.splice(1, 1, { ...(theirs.batches[1] as (typeof theirs.batches)[number]) });
    parts.events.splice(2, 3, ...theirs.events.slice(2, 5));
  }),
  {
    name: 'a package of another tenant than the anchor',
    check: 'tenant.binding',
    make: () => {
      const { tenant } = aStory('other');
      const parts = aPackage(tenant, { anchorSizes: [PINNED] });
      const bytes = packMembers(sealPackage(parts, tenant.keys.evidence));
      return { bytes, anchor: { ...aStory().tenant.anchor(PINNED), keys: tenant.entries } };
    },
  },
  staged('a batch signed by another key than its writer', 'batch.signature', ({ tenant, one }) => {
    one.key = anEd25519Key('attacker');
    tenant.decide(one);
    one.ship();
    return undefined;
  }),
  forged('a batch with another root', 'batch.signature', (parts) => {
    const batch = parts.batches[3];
    if (batch) batch.header = { ...batch.header, event_root: recordHash(Buffer.from('x')) };
  }),
  forged(
    'a frontier of another log',
    'log.inclusion',
    (parts) => {
      const { range } = parts.proofs;
      if (range) range.frontier = range.frontier.map(() => recordHash(Buffer.from('x')));
    },
    { start: 5, from: timeOf(100) },
  ),
  forged(
    'an inclusion proof of another leaf',
    'log.inclusion',
    (parts) => {
      const [first, second] = parts.proofs.leaves;
      if (first && second) first.path = second.path;
    },
    SELECTIVE,
  ),
  forged(
    'a proof of another event',
    'batch.root',
    (parts) => {
      const proof = parts.eventProofs[3];
      if (proof) proof.path = [recordHash(Buffer.from('x'))];
    },
    SELECTIVE,
  ),
  forged(
    'an event without a proof',
    'batch.root',
    (parts) => {
      parts.eventProofs.pop();
    },
    SELECTIVE,
  ),
  forged(
    'a proof that belongs to another record',
    'proof.binding',
    (parts) => {
      const [first, second] = parts.events as [Buffer, Buffer];
      parts.events.splice(0, 2, second, first);
    },
    SELECTIVE,
  ),
  forged(
    'a leaf that is proven twice',
    'proof.binding',
    (parts) => {
      const [leaf] = parts.proofs.leaves;
      if (leaf) parts.proofs.leaves.push(leaf);
    },
    SELECTIVE,
  ),
  forged('a range that the manifest does not name', 'proof.binding', (parts) => {
    parts.manifest.log.start = 1;
  }),
  forged(
    'a checkpoint of a larger tree in its place',
    'checkpoint.signature',
    (parts, { tenant }) => {
      parts.checkpoints.set(tenant.leaves.length, tenant.checkpoint(tenant.leaves.length - 1));
    },
  ),
  forged('a checkpoint that nobody signed', 'checkpoint.signature', (parts, { tenant }) => {
    const size = tenant.leaves.length;
    const note = parts.checkpoints.get(size) ?? '';
    parts.checkpoints.set(size, note.replace(/time 20\d\d/, 'time 2027'));
  }),
  {
    name: 'a log that the issuer wrote anew and signed again',
    check: 'log.consistency',
    make: () => {
      const anchor = aStory().tenant.anchor(PINNED);
      const tenant = new TestTenant('story');
      // The same keys, another history.
      const one = tenant.plane('plane-1');
      for (let i = 0; i < 8; i++) {
        tenant.decide(one, { tool_name: 'harmless' });
        one.ship();
      }
      const parts = aPackage(tenant, { anchorSizes: [PINNED] });
      return { bytes: packMembers(sealPackage(parts, tenant.keys.evidence)), anchor };
    },
  },
  forged('no proof from the anchor', 'log.consistency', (parts) => {
    parts.proofs.consistency = [];
  }),
  staged('a later log epoch that no statement explains', 'log.consistency', ({ tenant }) => {
    tenant.logEpoch = 2;
    return undefined;
  }),
  ...LARGE_RECORD_FORGERIES,
  ...RESTORE_FORGERIES,
  ...KEY_FORGERIES,
  ...LIES,
  ...DISPUTE_FORGERIES,
  {
    name: 'witnesses that did not cosign',
    check: 'witness.quorum',
    make: () => {
      const { tenant } = aStory();
      const parts = aPackage(tenant, { anchorSizes: [PINNED] });
      const witnesses = [{ name: 'w', key: anEd25519Key('w').jwk }];
      const bytes = packMembers(sealPackage(parts, tenant.keys.evidence));
      return { bytes, anchor: tenant.anchor(PINNED, { witnesses }) };
    },
  },
  {
    name: 'a manifest signed by an attacker',
    check: 'keys.anchored',
    make: () => {
      const { tenant } = aStory();
      const anchor = tenant.anchor(PINNED);
      const attacker = anEd25519Key('attacker');
      tenant.entries.push(tenant.entryOf('evidence', attacker));
      const parts = aPackage(tenant, { anchorSizes: [PINNED] });
      return { bytes: packMembers(sealPackage(parts, attacker)), anchor };
    },
  },
  staged('a writer whom an attacker vouches for', 'keys.anchored', ({ tenant, one }) => {
    const attacker = anEd25519Key('attacker');
    tenant.entries.push(tenant.entryOf('evidence', attacker));
    one.key = anEd25519Key('attacker-writer');
    tenant.writers.push(tenant.writerStatement(one, attacker));
    tenant.decide(one);
    one.ship();
    return undefined;
  }),
  staged('a rotation that the key before did not sign', 'keys.anchored', ({ tenant }) => {
    const next = anEd25519Key('attacker');
    const attacker = { ...tenant.keys.checkpoint, key: next.key };
    tenant.rotations.push(
      signRotation(tenant.rotationTo('checkpoint', next, tenant.now()), attacker, next),
    );
    tenant.entries.push(tenant.entryOf('checkpoint', next));
    tenant.keys.checkpoint = next;
    return undefined;
  }),
  staged('a key that signed after it was rotated', 'keys.validity', ({ tenant }) => {
    const next = anEd25519Key('evidence-2');
    const statement = tenant.rotationTo('evidence', next, tenant.now());
    tenant.rotations.push(signRotation(statement, tenant.keys.evidence, next));
    tenant.wait(3_600);
    return undefined;
  }),
  staged('a key that the anchor says is over', 'keys.validity', ({ tenant }, anchor) => {
    for (const entry of anchor.keys) {
      if (entry.purpose === 'evidence') entry.valid_to = timeOf(-60);
    }
    tenant.wait(3_600);
    return undefined;
  }),
  staged('a key that the anchor revokes', 'keys.validity', ({ tenant }, anchor) => {
    for (const entry of anchor.keys)
      if (entry.purpose === 'evidence') entry.revoked_at = tenant.now();
    return undefined;
  }),
  forged('a decision by a bundle that is not shown', 'policy.binding', (parts) => {
    parts.bundles = [];
  }),
  forged('a bundle whose manifest was edited', 'policy.binding', (parts) => {
    const [bundle] = parts.bundles;
    if (bundle) bundle.manifest = bundle.manifest.replace('"roots":["governance"]', '"roots":[""]');
  }),
  forged('another payload', 'payload.digests', (parts) => {
    const [payload] = parts.payloads;
    if (payload) payload.payload = '{"path":"other.txt"}';
  }),
  forged('a payload of no record', 'payload.digests', (parts) => {
    const [payload] = parts.payloads;
    if (payload) payload.event_id = idOf('nobody');
  }),
  forged(
    'an approved call whose approval is not shown',
    'approval.binding',
    (parts) => {
      parts.causes = parts.causes.filter(({ record }) => !record.includes('escalation_approved'));
      const leaves = new Set([...parts.causes, ...parts.eventProofs].map((one) => one.leaf_index));
      parts.batches = parts.batches.filter(({ leaf_index }) => leaves.has(leaf_index));
      parts.proofs.leaves = parts.proofs.leaves.filter(({ leaf_index }) => leaves.has(leaf_index));
    },
    SELECTIVE,
  ),
  staged('an approval of another call', 'approval.binding', (story) => {
    anApproval(story, { tool_name: 'read_file' });
    return undefined;
  }),
  staged('an approval that was over', 'approval.binding', (story) => {
    anApproval(story, { grant_expires_at: timeOf(-3_600) });
    return undefined;
  }),
  staged('an approval that was used twice', 'approval.binding', ({ tenant, one, two }) => {
    const story = { tenant, one, two };
    anApproval(story);
    const last = JSON.parse(String(tenant.leaves.at(-1)?.records.at(-1)));
    tenant.decide(one, { tool_name: 'delete_file', grant_id: last.grant_id });
    one.ship();
    return undefined;
  }),
  staged('an approval that a data plane wrote', 'approval.binding', (story) => {
    const { tenant, one } = story;
    const grantId = idOf('grant');
    one.add({
      type: 'admin_action',
      bundle_revision: null,
      actor: { id: 'anna', username: 'anna', role: 'admin', break_glass: false },
      action: 'escalation_approved',
      target: `escalation/${idOf('escalation')}`,
      details: {
        event_id: idOf('event'),
        agent_id: idOf(`${tenant.seed}/agent`),
        mcp_server: 'files',
        tool_name: 'read_file',
        deployment_id: one.id,
        instruction_hash: recordHash(Buffer.from('x')),
        grant_id: grantId,
        grant_expires_at: timeOf(900),
      },
    });
    tenant.decide(one, { grant_id: grantId });
    one.ship();
    return undefined;
  }),
  staged('a delegation to another agent', 'delegation.binding', (story) => {
    aDelegation(story, { delegatee_agent_id: idOf('another') });
    return undefined;
  }),
  staged('a link of another chain', 'delegation.binding', (story) => {
    aDelegation(story, { parent_delegation_id: idOf('another') });
    return undefined;
  }),
  forged(
    'a selective package with more than its scope',
    'scope.complete',
    (parts) => {
      parts.manifest.scope.filter = { agent_ids: [idOf('nobody')] };
    },
    SELECTIVE,
  ),
  ...WITNESS_FORGERIES.map((one) => ({ ...one, check: 'witness.quorum' as const })),
];
