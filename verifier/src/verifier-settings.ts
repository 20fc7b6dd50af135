/** The settings of the verification service. */
import { SERVICE_SETTINGS } from '@governance/shared/service-settings';
import { setting, wholeNumber } from '@governance/shared/settings';
import { z } from 'zod';

export const VERIFIER_SETTINGS = {
  host: setting({
    name: 'VERIFIER_HOST',
    description: 'The address that the verification service listens on.',
    default: '127.0.0.1',
    parse: z.string(),
  }),
  port: setting({
    name: 'VERIFIER_PORT',
    description: 'The port of the verification service; 0 takes a free one.',
    default: '8090',
    parse: wholeNumber(0, 65_535),
  }),
  trustAnchor: setting({
    name: 'VERIFIER_TRUST_ANCHOR',
    description:
      'A file with the trust anchor or keyset that is published at /trust-anchor.json; its issuer is trusted too.',
    parse: z.string(),
  }),
  issuers: setting({
    name: 'VERIFIER_ISSUERS',
    description:
      'A file with a JSON array of trust anchors and keysets: issuers whose packages count as issuer-anchored when no anchor is given.',
    parse: z.string(),
  }),
  concurrency: setting({
    name: 'VERIFIER_CONCURRENCY',
    description:
      'Concurrent verifications; further ones get 503. Each may take up to 400 MiB, and uploads in progress another 132 MiB for each, and for one more.',
    default: '4',
    parse: wholeNumber(1, 64),
  }),
  trustedProxies: setting({
    ...SERVICE_SETTINGS.trustedProxies,
    name: 'VERIFIER_TRUSTED_PROXIES',
    default: '',
  }),
};
