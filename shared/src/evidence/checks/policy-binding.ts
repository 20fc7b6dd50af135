/**
 * `policy.binding`: every revision that a decision names is a bundle that the control plane signed
 * for this tenant.
 */
import { BundleManifest } from '../../bundle-format.ts';
import { readBundleSignature } from '../../bundle-signature.ts';
import { type BundleLine, EVIDENCE_MEMBERS } from '../evidence-package.ts';
import type { Check, Tally } from './check.ts';
import type { Evidence } from './evidence.ts';
import { lineOf } from './location.ts';

const { bundles: member, events } = EVIDENCE_MEMBERS;

export function checkPolicyBinding(tally: Tally, evidence: Evidence): Check {
  /** Revisions that decisions name: the first line that does, and its time. */
  const named = new Map<number, { line: number; at: string }>();
  const shown = new Map<number, string>();

  function findFault({ revision, manifest, signatures }: BundleLine, line: number) {
    const { keyset, manifest: said } = evidence;
    const signed = readBundleSignature(Buffer.from(signatures), Buffer.from(manifest), {
      scope: said.tenant_id,
      findKey: (kid) => keyset.find('bundle', kid)?.jwk,
    });
    const { metadata, revision: own } = BundleManifest.parse(JSON.parse(manifest));
    if (own !== String(revision)) return 'the bundle is of another revision';
    if (metadata.tenant_id !== said.tenant_id) return 'the bundle is of another tenant';
    const key = keyset.find('bundle', signed.kid);
    if (!key) return 'not signed by a known bundle key';
    const vouchesFor = named.get(revision)?.at ?? null;
    evidence.use({
      key,
      notBefore: null,
      signedAt: null,
      vouchesFor,
      location: lineOf(member, line),
    });
    return undefined;
  }

  return {
    event: ({ line, record }) => {
      if (record?.type !== 'decision' || record.bundle_revision === null) return;
      if (!named.has(record.bundle_revision)) {
        named.set(record.bundle_revision, { line, at: record.timestamp });
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
      const listed = new Map(
        evidence.manifest.bundles.map(({ revision, digest }) => [revision, digest]),
      );
      for (const [revision, { line }] of named) {
        const digest = shown.get(revision);
        if (digest === undefined) tally.fail('the bundle is not shown', lineOf(events, line));
        else if (listed.get(revision) !== digest) {
          tally.fail('the manifest names another bundle', lineOf(events, line));
        } else tally.ok();
      }
    },
  };
}
