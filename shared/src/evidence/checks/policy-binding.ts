/**
 * `policy.binding`: every revision that a decision names is a bundle that the control plane signed
 * for this tenant.
 */
import { BundleManifest } from '../../bundle/bundle-format.ts';
import { readBundleSignature } from '../../bundle/bundle-signature.ts';
import { type BundleLine, EVIDENCE_MEMBERS, VOLUME_LIMITS } from '../evidence-package.ts';
import type { Check, Tally } from './check.ts';
import { judgeDisputable, toDisputable } from './disputes.ts';
import type { DisputableRecord, Evidence } from './evidence.ts';
import { lineOf } from './location.ts';

const { bundles: member, events } = EVIDENCE_MEMBERS;
const NOT_SHOWN = 'the bundle is not shown';

/** A decision whose revision the control plane disputed is a warning, not a failure. */
export function checkPolicyBinding(tally: Tally, evidence: Evidence): Check {
  const judged = { tally, evidence, check: 'policy.binding' } as const;
  /** Revisions that decisions name, and the first that does. */
  const named = new Map<number, { line: number; at: string; stream: string }>();
  const shown = new Map<number, string>();
  /** Decisions by revisions that the manifest does not list: the control plane may dispute each. */
  const unlisted: { revision: number; record: DisputableRecord }[] = [];
  let listed = new Map<number, string>();

  function findFault({ revision, manifest, signatures }: BundleLine, line: number) {
    const { keyset, manifest: ofPackage } = evidence;
    const signed = readBundleSignature(Buffer.from(signatures), Buffer.from(manifest), {
      scope: ofPackage.tenant_id,
      findKey: (kid) => keyset.find('bundle', kid)?.jwk,
    });
    const { metadata, revision: own } = BundleManifest.parse(JSON.parse(manifest));
    if (own !== String(revision)) return 'the bundle is of another revision';
    if (metadata.tenant_id !== ofPackage.tenant_id) return 'the bundle is of another tenant';
    const key = keyset.find('bundle', signed.kid);
    if (!key) return 'not signed by a known bundle key';
    const first = named.get(revision);
    evidence.use({
      key,
      notBefore: null,
      signedAt: null,
      // A bundle that only other records name vouches for nothing.
      vouchesFor: first?.at ?? '',
      ...(first && { decidedBy: first.stream }),
      location: lineOf(member, line),
    });
    return undefined;
  }

  /** By revision: a decision that was not disputed, or else the first. */
  function findWorst(): Map<number, DisputableRecord> {
    const worst = new Map<number, DisputableRecord>();
    const isDisputed = (record: DisputableRecord) =>
      evidence.disputes.isDisputed('policy.binding', record);
    for (const { revision, record } of unlisted) {
      const known = worst.get(revision);
      if (!known || (isDisputed(known) && !isDisputed(record))) worst.set(revision, record);
    }
    return worst;
  }

  return {
    documents: () => {
      const { bundles } = evidence.manifest;
      listed = new Map(bundles.map(({ revision, digest }) => [revision, digest]));
    },
    event: (event) => {
      const { line, record } = event;
      if (record?.type !== 'decision' || record.bundle_revision === null) return;
      const { bundle_revision: revision, timestamp: at, stream } = record;
      if (!named.has(revision)) named.set(revision, { line, at, stream });
      if (listed.has(revision)) return;
      if (unlisted.length < VOLUME_LIMITS.causes) {
        unlisted.push({ revision, record: toDisputable(event, record) });
      } else {
        const fault = 'there are more decisions without a bundle than a volume may have';
        tally.fail(fault, lineOf(events, line));
      }
    },
    bundle: ({ line, value }) => {
      const { revision, digest } = value;
      let fault: string | undefined;
      try {
        fault = shown.has(revision) ? 'the bundle is there twice' : findFault(value, line);
      } catch {
        fault = 'the bundle is not what was signed';
      }
      shown.set(revision, digest);
      if (fault !== undefined) tally.fail(fault, lineOf(member, line));
    },
    end: () => {
      const worst = findWorst();
      for (const [revision, { line }] of named) {
        const digest = shown.get(revision);
        const record = worst.get(revision);
        if (digest === undefined && record) {
          judgeDisputable(judged, record, NOT_SHOWN);
        } else if (digest === undefined) tally.fail(NOT_SHOWN, lineOf(events, line));
        else if (listed.get(revision) !== digest) {
          tally.fail('the manifest names another bundle', lineOf(events, line));
        } else tally.ok();
      }
    },
  };
}
