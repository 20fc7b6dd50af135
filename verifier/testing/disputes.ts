/**
 * Packages with records of a data plane that invents what they refer to: the control plane disputed
 * them in time, or something is wrong with the dispute.
 */
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { type DisputableCheck, MAX_DISPUTED } from '@governance/shared/ledger/record-dispute';
import type { Forgery } from './forgery.ts';
import { aPacked, type GoodPackage, type PackageRequest } from './package-builder.ts';
import { idOf } from './test-keys.ts';
import { anApproval, aStory, type Story } from './test-stories.ts';
import { type TestStream, timeOf } from './test-tenant.ts';

const PINNED = 3;

/** What a data plane says that did not happen. */
const INVENTED = {
  'delegation.binding': { delegation_chain: [idOf('invented')], workflow_session_id: idOf('none') },
  'approval.binding': { grant_id: idOf('invented') },
  'policy.binding': { bundle_revision: 8 },
} as const satisfies Record<DisputableCheck, object>;
const CHECKS = Object.keys(INVENTED) as DisputableCheck[];

/** A dispute of each record that a stream has not shipped yet. */
export function disputeOf(plane: TestStream, ...checks: DisputableCheck[]) {
  const { id, epoch, seq, waiting } = plane;
  const records = waiting.flatMap((bytes, index) =>
    checks.map((check) => ({
      ...{ seq: seq - waiting.length + 1 + index, hash: recordHash(bytes), check },
      ...{ reason: 'it is not known', reference: 'invented' },
    })),
  );
  return ['record_disputed', `data_plane/${id}`, { epoch, records }] as const;
}

/** A lie, disputed before it is shipped. */
export function aDisputedLie({ tenant, two }: Story, ...checks: DisputableCheck[]): void {
  tenant.decide(two, Object.assign({}, ...checks.map((check) => INVENTED[check])));
  tenant.act(...disputeOf(two, ...checks));
  two.ship();
}

const isDecision = (bytes: Buffer) => bytes.includes('"type":"decision"');

const packed = (go: (story: Story) => void, request: (story: Story) => PackageRequest) => ({
  make: () => {
    const story = aStory();
    go(story);
    const { tenant } = story;
    const bytes = aPacked(tenant, { anchorSizes: [PINNED], ...request(story) });
    return { bytes, anchor: tenant.anchor(PINNED) };
  },
});

/** A package that begins behind what was approved, and in which a batch repeats that at its end. */
const repeating = (lie: (story: Story) => void, count: number) =>
  packed(
    (story) => {
      const { tenant, one } = story;
      anApproval(story);
      tenant.wait(600);
      lie(story);
      tenant.act(...disputeOf(one, 'approval.binding'));
      one.ship();
      tenant.decide(one);
      const own = tenant.leaves.filter(({ header }) => header.stream === one.id);
      one.waiting.unshift(...own.flatMap(({ records }) => records).slice(-count));
      one.ship();
    },
    ({ tenant }) => {
      const start = tenant.leaves.length - 2;
      const { timestamp: from } = JSON.parse(String(tenant.leaves[start]?.records[0]));
      const causes = ['escalation_approved', 'record_disputed'];
      return { start, from, causes: (bytes) => causes.some((one) => bytes.includes(one)) };
    },
  );

const lieOfEach = (story: Story) => {
  for (const check of CHECKS) aDisputedLie(story, check);
};

export const DISPUTED_PACKAGES: readonly GoodPackage[] = [
  {
    name: 'inventions of a data plane that were disputed',
    ...packed(lieOfEach, () => ({})),
  },
  {
    name: 'inventions of a data plane that were disputed, selected',
    ...packed(lieOfEach, () => ({
      kind: 'selective',
      pick: isDecision,
      causes: (bytes) => !isDecision(bytes),
    })),
  },
  {
    name: 'an invention that was disputed before the package begins',
    ...packed(
      (story) => {
        story.tenant.wait(600);
        aDisputedLie(story, ...CHECKS);
      },
      ({ tenant }) => ({
        start: tenant.leaves.length - 1,
        from: JSON.parse(String(tenant.leaves.at(-1)?.records[0])).timestamp,
        causes: (bytes) => bytes.includes('record_disputed'),
      }),
    ),
  },
  {
    name: 'an approval that its data plane used twice, which was disputed',
    ...packed(
      (story) => {
        anApproval(story);
        useAgain(story);
        story.tenant.act(...disputeOf(story.one, 'approval.binding'));
        story.one.ship();
      },
      () => ({}),
    ),
  },
  {
    name: 'an approval of another hold than the one that is shown, which was disputed',
    ...packed(
      (story) => alterApproval(story, { isDisputed: true }),
      () => ({}),
    ),
  },
  {
    name: 'an approval that its data plane used twice, the first use repeated behind a disputed one',
    ...repeating(useAgain, 2),
  },
];

export const aRepeatedHold: GoodPackage = {
  name: 'an approved hold, repeated behind a second one that was disputed',
  ...repeating(openAgain, 3),
};

/** Another hold under the id of one that was approved. */
function openAgain({ tenant, one }: Story): void {
  const records = tenant.leaves.flatMap(({ records }) => records.map(String));
  const held = records.find((text) => text.includes('"type":"hold_opened"'));
  const { id: _, timestamp: _at, ...hold } = JSON.parse(held ?? '');
  one.add({ ...hold, event_id: idOf('another event') });
}

export function useAgain({ tenant, one }: Story): void {
  const used = JSON.parse(String(tenant.leaves.at(-1)?.records.at(-1)));
  const { agent_id, mcp_server, tool_name, grant_id } = used;
  tenant.decide(one, { agent_id, mcp_server, tool_name, grant_id });
}

/** The holds of one escalation, of which the second is disputed or not. */
export const aSecondHold = (isDisputed: boolean): GoodPackage => ({
  name: 'a second hold of one escalation',
  ...packed(
    (story) => {
      anApproval(story);
      openAgain(story);
      if (isDisputed) story.tenant.act(...disputeOf(story.one, 'approval.binding'));
      story.one.ship();
    },
    () => ({}),
  ),
});

/** A disputed lie behind disputes of more than 100,000 checks of other records. */
export const aLieBehindMany: GoodPackage = {
  name: 'a lie behind many disputes',
  ...packed(
    (story) => {
      const { tenant, two } = story;
      for (let n = 0; n <= 400; n++) {
        const hash = recordHash(Buffer.from(String(n)));
        const records = Array.from({ length: MAX_DISPUTED }, (_, at) => ({
          ...{ seq: at + 1, hash, check: 'delegation.binding' },
        }));
        tenant.act('record_disputed', `data_plane/${two.id}`, { epoch: 1, records });
      }
      aDisputedLie(story, 'delegation.binding');
    },
    () => ({}),
  ),
};

export interface AlteredApproval {
  isDisputed: boolean;
  /** How often the call is made. */
  uses?: number;
  /** The hold that is shown beside the first. */
  beside?: 'the approved one';
}

/** An approval of another hold than the one that is shown, which is disputed or not. */
export const anAlteredApproval = (altered: AlteredApproval): GoodPackage => ({
  name: 'an approval of another hold',
  ...packed(
    (story) => alterApproval(story, altered),
    () => ({}),
  ),
});

function alterApproval({ tenant, one }: Story, { isDisputed, uses = 1, beside }: AlteredApproval) {
  const [escalation_id, grant_id] = [tenant.nextId(), tenant.nextId()];
  const agent_id = idOf(`${tenant.seed}/agent`);
  const call = { agent_id, mcp_server: 'files', tool_name: 'delete_file' };
  const hold = (text: string) => {
    const instruction_hash = recordHash(Buffer.from(text));
    const asked = { policy_result: 'escalate', escalation_id, instruction_hash } as const;
    const event_id = tenant.decide(one, { ...call, ...asked });
    one.add({
      ...{ type: 'hold_opened', bundle_revision: 7, held: 'call', requester_id: null },
      ...{ method: 'tools/call', target: 'files/report.txt', risk_tier: 'high', reason: null },
      ...{ timeout_at: timeOf(1_000), ...call, escalation_id, event_id, instruction_hash },
    });
    return { event_id, instruction_hash };
  };
  const held = hold('shown');
  if (isDisputed) tenant.act(...disputeOf(one, 'approval.binding'));
  one.ship();
  const instruction_hash = recordHash(Buffer.from('altered'));
  const approved = beside ? hold('altered') : { ...held, instruction_hash };
  if (beside) one.ship();
  tenant.act('escalation_approved', `escalation/${escalation_id}`, {
    ...{ ...call, ...approved, deployment_id: one.id, notes: null },
    ...{ grant_id, grant_expires_at: timeOf(900) },
  });
  for (let n = 0; n < uses; n++) tenant.decide(one, { ...call, grant_id });
  one.ship();
}

const lie = ({ tenant, two }: Story) =>
  tenant.decide(two, INVENTED['delegation.binding'] as object);

const forged = (name: string, go: (story: Story) => void): Forgery => ({
  name,
  check: 'delegation.binding',
  ...packed(go, () => ({})),
});

export const DISPUTE_FORGERIES: readonly Forgery[] = [
  forged('a delegation that a data plane invented', (story) => {
    lie(story);
    story.two.ship();
  }),
  forged('a dispute after the record is in the log', (story) => {
    const { tenant, two } = story;
    lie(story);
    const dispute = disputeOf(two, 'delegation.binding');
    two.ship();
    tenant.act(...dispute);
  }),
  forged('a dispute of another check', (story) => {
    const { tenant, two } = story;
    lie(story);
    tenant.act(...disputeOf(two, 'approval.binding', 'policy.binding'));
    two.ship();
  }),
  forged('a dispute of what another record at this place says', (story) => {
    const { tenant, two } = story;
    const { seq, head } = two;
    lie(story);
    tenant.act(...disputeOf(two, 'delegation.binding'));
    Object.assign(two, { seq, head, waiting: [] });
    lie(story);
    two.ship();
  }),
  forged('a dispute by a data plane', (story) => {
    const { tenant, one, two } = story;
    lie(story);
    const [action, target, details] = disputeOf(two, 'delegation.binding');
    one.add({
      ...{ type: 'admin_action', bundle_revision: null, action, target, details },
      actor: { id: one.id, username: 'one', role: 'data_plane', break_glass: false },
    });
    one.ship();
    two.ship();
    tenant.act('policy_created', 'policy', {});
  }),
  forged('an invention beside one that was disputed', (story) => {
    aDisputedLie(story, 'delegation.binding');
    lie(story);
    story.two.ship();
  }),
];
