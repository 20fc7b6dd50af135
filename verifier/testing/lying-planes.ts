/** Packages in which one data plane lies, or was copied: what the others wrote stays verified. */
import type { Forgery } from './forgery.ts';
import { aPacked, type GoodPackage, type PackageRequest } from './package-builder.ts';
import { aBundleKey, idOf } from './test-keys.ts';
import { anApproval, aStory, type Story } from './test-stories.ts';
import { timeOf } from './test-tenant.ts';

const PINNED = 3;

const packed = (go: (story: Story) => void, request: PackageRequest = {}) => ({
  make: () => {
    const story = aStory();
    go(story);
    const { tenant } = story;
    const bytes = aPacked(tenant, { anchorSizes: [PINNED], ...request });
    return { bytes, anchor: tenant.anchor(PINNED) };
  },
});

/** Every record of a kind. */
const recordsOf = ({ tenant }: Story, type: string) =>
  tenant.leaves
    .flatMap(({ records }) => records.map((bytes) => JSON.parse(String(bytes))))
    .filter((record) => record.type === type);

/** Another data plane uses an approval, in a leaf before that of the approved call. */
export function stealApproval(story: Story): void {
  const { tenant, two } = story;
  anApproval(story);
  const approved = tenant.leaves.pop();
  const { grant_id } = JSON.parse(String(approved?.records.at(-1)));
  tenant.decide(two, { tool_name: 'delete_file', grant_id });
  two.ship();
  if (approved) tenant.leaves.push(approved);
}

function forkStream({ tenant, one }: Story): void {
  tenant.writers = tenant.writers.map(({ statement }) =>
    tenant.signWriter(
      statement.stream === one.id ? { ...statement, revoked_at: timeOf(0) } : statement,
    ),
  );
  tenant.decide(one, { policy_result: 'deny' });
  one.ship();
}

/** A package of what is decided after the key of the first bundle was revoked. */
const afterRevocation = (
  decide: (story: Story) => void,
  { saidBy }: { saidBy: 'package' | 'anchor' },
) => ({
  make: () => {
    const story = aStory();
    const { tenant } = story;
    const anchor = tenant.anchor(PINNED);
    tenant.wait(600);
    const [start, from] = [tenant.leaves.length, tenant.now()];
    const [key] = (saidBy === 'package' ? tenant.entries : anchor.keys).filter(
      ({ purpose }) => purpose === 'bundle',
    );
    Object.assign(key ?? {}, { revoked_at: from });
    decide(story);
    return { bytes: aPacked(tenant, { anchorSizes: [PINNED], start, from }), anchor };
  },
});

function decideByOld({ tenant, two }: Story): void {
  tenant.decide(two);
  two.ship();
}

function decideByNew({ tenant, one }: Story): void {
  tenant.rotate('bundle', aBundleKey('bundle-2'));
  tenant.publish(8);
  tenant.decide(one, { bundle_revision: 8 });
  one.ship();
}

export const PACKAGES_WITH_LIES: readonly GoodPackage[] = [
  {
    name: 'a data plane that opens the hold of another',
    ...packed((story) => {
      anApproval(story);
      const { tenant, two } = story;
      const [{ id: _, timestamp: _at, ...hold }] = recordsOf(story, 'hold_opened');
      two.add({ ...hold, event_id: tenant.decide(two, { policy_result: 'escalate' }) });
      two.ship();
    }),
  },
  {
    name: 'payloads of an event id that two data planes gave, one of them twice',
    ...packed(
      ({ tenant, one, two }) => {
        const id = idOf('an event');
        tenant.decide(one, { id, payload: '{"path":"report.txt"}' });
        one.ship();
        tenant.decide(two, { id, payload: '{"path":"other.txt"}' });
        tenant.decide(two, { id, payload: '{"path":"other.txt"}' });
        two.ship();
      },
      { payloads: true },
    ),
  },
  { name: 'records of a writer whose stream forked before', ...packed(forkStream) },
  {
    name: 'records of a writer whose stream forked before, selected',
    ...packed(forkStream, {
      kind: 'selective',
      pick: (bytes) => bytes.includes('"type":"decision"'),
    }),
  },
  {
    name: 'a decision by a bundle whose key was revoked, which the package says',
    ...afterRevocation(decideByOld, { saidBy: 'package' }),
  },
  {
    name: 'a bundle whose key was revoked, and that no decision names',
    ...afterRevocation(decideByNew, { saidBy: 'package' }),
  },
];

export const LIES: readonly Forgery[] = [
  {
    name: 'an approval that another data plane uses first',
    check: 'approval.binding',
    ...packed(stealApproval),
  },
  {
    name: 'a decision by a bundle whose key was revoked, which only the anchor says',
    check: 'keys.validity',
    ...afterRevocation(decideByOld, { saidBy: 'anchor' }),
  },
];
