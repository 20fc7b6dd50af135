/** `manifest.signature`: an evidence key signed the manifest. */
import { verifyEnvelope } from '../dsse.ts';
import { EVIDENCE_MEMBERS, EVIDENCE_PAYLOAD_TYPE } from '../evidence-package.ts';
import type { Check, Tally } from './check.ts';
import type { Evidence } from './evidence.ts';

/** A DSSE envelope of the type for evidence, signed by a key for evidence that is known. */
export function checkManifestSignature(tally: Tally, evidence: Evidence): Check {
  const location = { member: EVIDENCE_MEMBERS.manifest };
  return {
    documents: () => {
      const { envelope, keyset, manifest } = evidence;
      if (envelope.payloadType !== EVIDENCE_PAYLOAD_TYPE) {
        tally.fail('the envelope is of another type', { ...location, path: 'payloadType' });
        return;
      }
      const valid = verifyEnvelope(envelope, (kid) => keyset.find('evidence', kid)?.jwk);
      const keys = valid.flatMap((kid) => keyset.find('evidence', kid) ?? []);
      // One trusted signature suffices; others may have signed, too.
      const key = keys.find(({ isAnchored }) => isAnchored) ?? keys[0];
      if (!key) {
        tally.fail('not signed by a known evidence key', { ...location, path: 'signatures' });
        return;
      }
      tally.ok();
      const at = manifest.created_at;
      evidence.use({ key, notBefore: at, signedAt: at, vouchesFor: null, location });
    },
  };
}
