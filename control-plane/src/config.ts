/** Reads the environment once; importing it does nothing. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import { witnessList } from '@governance/shared/evidence/witness-setting';
import { Severity } from '@governance/shared/ledger/ledger-record';
import { addressList } from '@governance/shared/outbound/address-policy';
import { defaultPublicUrl } from '@governance/shared/process/listening-address';
import { SERVICE_SETTINGS } from '@governance/shared/service-settings';
import {
  commaList,
  flag,
  parseSettings,
  type ReadableValues,
  Secret,
  type SettingProblem,
  type SettingValues,
  secretText,
  setting,
  webAddress,
  wholeNumber,
} from '@governance/shared/settings';
import { z } from 'zod';
import {
  findMissingPackages,
  KeyProviderName,
  resolvePackage,
} from './key-management/key-provider.ts';

const SEVERITIES = Severity.options;
const MASTER_KEY_BYTES = 32;
const SMALLEST_RSA_BITS = 2048;

const postgresUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol),
    'must be a postgresql:// address',
  )
  .transform((url) => new Secret(url));

const rsaKey = (kind: 'private' | 'public') =>
  z.string().transform((text, context): Secret<KeyObject> => {
    try {
      // One line of an env file holds a PEM with its line ends written as \n.
      const pem = text.replaceAll('\\n', '\n');
      const key = kind === 'private' ? createPrivateKey(pem) : createPublicKey(pem);
      const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
      if (key.asymmetricKeyType === 'rsa' && bits >= SMALLEST_RSA_BITS) return new Secret(key);
    } catch {
      // Reported below, without the key.
    }
    context.addIssue(`must be an RSA ${kind} key in PEM form of ${SMALLEST_RSA_BITS} bits or more`);
    return z.NEVER;
  });

/** Several PEM blocks in a row. */
const rsaPublicKeys = z.string().transform((text, context): Secret<KeyObject[]> => {
  const parts = text.replaceAll('\\n', '\n').split(/(?<=-----END PUBLIC KEY-----)/);
  const keys: KeyObject[] = [];
  for (const part of parts.map((one) => one.trim()).filter((one) => one !== '')) {
    const key = rsaKey('public').safeParse(part);
    if (key.success) keys.push(key.data.reveal());
    else {
      const [issue] = key.error.issues;
      context.addIssue(issue?.message ?? 'is not a list of RSA public keys in PEM form');
      return z.NEVER;
    }
  }
  return new Secret(keys);
});

const masterKey = z.string().transform((text, context): Secret<Buffer> => {
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64');
  if (bytes.length === MASTER_KEY_BYTES) return new Secret(bytes);
  context.addIssue('must be 32 bytes as base64 or hexadecimal (openssl rand -base64 32)');
  return z.NEVER;
});

const masterKeys = z.string().transform((text, context): Secret<Buffer[]> => {
  const keys: Buffer[] = [];
  for (const part of text.split(',').map((one) => one.trim())) {
    const key = masterKey.safeParse(part);
    if (key.success) keys.push(key.data.reveal());
    else {
      context.addIssue('must be keys of 32 bytes as base64 or hexadecimal, separated by commas');
      return z.NEVER;
    }
  }
  return new Secret(keys);
});

export const CONTROL_PLANE_SETTINGS = {
  ...SERVICE_SETTINGS,
  adminPassword: setting({
    name: 'SERVICE_ADMIN_PASSWORD',
    description: 'The password of `admin`, the administrator of the tenant `default`.',
    defaultNote: 'development: created at the first start and kept in the data folder',
    parse: secretText,
  }),
  superAdminPassword: setting({
    name: 'SERVICE_SUPER_ADMIN_PASSWORD',
    description: 'When set, `superadmin` may log in: it creates tenants and belongs to none.',
    parse: secretText,
  }),
  signup: setting({
    name: 'SERVICE_SIGNUP',
    description: '`true` lets anybody create a tenant at `/api/v1/signup`.',
    defaultNote: '`true` in development, `false` in production',
    parse: flag,
  }),
  jwtPrivateKey: setting({
    name: 'SERVICE_JWT_PRIVATE_KEY',
    description:
      'RSA key in PEM form that signs tokens, unless the service is to create and rotate it itself; the same on every replica.',
    defaultNote: 'created at the first start and kept in the database, under the master key',
    parse: rsaKey('private'),
  }),
  jwtPublicKey: setting({
    name: 'SERVICE_JWT_PUBLIC_KEY',
    description: 'The public half of SERVICE_JWT_PRIVATE_KEY.',
    defaultNote: 'as SERVICE_JWT_PRIVATE_KEY',
    parse: rsaKey('public'),
  }),
  jwtPreviousPublicKeys: setting({
    name: 'SERVICE_JWT_PREVIOUS_PUBLIC_KEYS',
    description:
      'RSA public keys in PEM form, one after the other, whose tokens are still accepted: the old key for 8 hours after a change of SERVICE_JWT_PRIVATE_KEY, and the new key before it.',
    parse: rsaPublicKeys,
  }),
  keyOverlapSeconds: setting({
    name: 'SERVICE_KEY_OVERLAP_SECONDS',
    description:
      'How long a new key of the service is published before it signs (docs/operations/keys.md), so that replicas and data planes learn it.',
    default: '30',
    parse: wholeNumber(1, 3600),
  }),
  masterKey: setting({
    name: 'SERVICE_MASTER_KEY',
    description:
      '32 bytes, base64 or hexadecimal, under which the keys and credentials in the database are encrypted. Without this key they are lost.',
    defaultNote:
      'created at the first start and kept in the data folder; in production required with DATABASE_URL',
    parse: masterKey,
  }),
  masterKeyPrevious: setting({
    name: 'SERVICE_MASTER_KEY_PREVIOUS',
    description:
      'Other master keys, separated by commas, under which parts of the database may still be encrypted: the leader re-encrypts those under SERVICE_MASTER_KEY. The log says when they are no longer needed.',
    parse: masterKeys,
  }),
  kmsProviders: setting({
    name: 'SERVICE_KMS_PROVIDERS',
    description:
      'Key providers that tenants may choose beside `local`, separated by commas: aws, gcp, azure, vault. Tenants name keys; the credentials are the operator’s. The operator installs the libraries of gcp and azure (docs/data-protection.md).',
    default: 'local',
    parse: commaList.pipe(
      z.array(
        z.enum(KeyProviderName.options, {
          error: `must be a list of ${KeyProviderName.options.join(', ')}`,
        }),
      ),
    ),
  }),
  kmsLibraries: setting({
    name: 'SERVICE_KMS_LIBRARIES',
    description:
      'A folder in whose `node_modules` the libraries of the key providers gcp and azure are.',
    defaultNote: 'the service’s own',
    parse: z
      .string()
      .min(1)
      .transform((path) => resolve(path)),
  }),
  awsKmsRegion: setting({
    name: 'SERVICE_AWS_KMS_REGION',
    description: 'The region of AWS KMS keys that are not named by an ARN.',
    defaultNote: 'AWS_REGION; credentials come from the usual AWS sources',
    parse: z.string().regex(/^[a-z0-9-]{1,30}$/, 'must be the name of a region'),
  }),
  gcpKmsEndpoint: setting({
    name: 'SERVICE_GCP_KMS_ENDPOINT',
    description: 'Another host of Cloud KMS, with its port unless that is 443.',
    defaultNote: 'cloudkms.googleapis.com; credentials come from the usual Google Cloud sources',
    parse: z
      .string()
      .regex(
        /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?$/i,
        'must be the name of a host',
      ),
  }),
  azureKeyVaultUrl: setting({
    name: 'SERVICE_AZURE_KEY_VAULT_URL',
    description:
      'The Key Vault with the keys, for the key provider `azure`. Credentials come from the usual Azure sources.',
    parse: webAddress,
  }),
  vaultAddress: setting({
    name: 'SERVICE_VAULT_ADDR',
    description: 'The address of Vault, for the key provider `vault`.',
    parse: webAddress,
  }),
  vaultToken: setting({
    name: 'SERVICE_VAULT_TOKEN',
    description: 'A token that may encrypt and decrypt with the transit engine.',
    parse: secretText,
  }),
  vaultNamespace: setting({
    name: 'SERVICE_VAULT_NAMESPACE',
    description: 'The namespace of the transit engine, where Vault has namespaces.',
    parse: z.string().regex(/^[\w./-]{1,200}$/, 'must be a namespace'),
  }),
  vaultTransitMount: setting({
    name: 'SERVICE_VAULT_TRANSIT_MOUNT',
    description: 'Where the transit engine is mounted.',
    default: 'transit',
    parse: z.string().regex(/^[\w-]+(?:\/[\w-]+)*$/, 'must be the path of a mount'),
  }),
  databaseUrl: setting({
    name: 'DATABASE_URL',
    description:
      'PostgreSQL 15 or newer. The login must be a member of governance_app and governance_ingest, or may create roles.',
    defaultNote: 'an embedded PostgreSQL in the data folder',
    parse: postgresUrl,
  }),
  databaseMigrationUrl: setting({
    name: 'DATABASE_MIGRATION_URL',
    description: 'A login that owns the tables and may create roles, used only for migrations.',
    defaultNote: 'DATABASE_URL',
    parse: postgresUrl,
  }),
  databaseIngestUrl: setting({
    name: 'DATABASE_INGEST_URL',
    description:
      'A login that is a member of governance_ingest, used only for the ingest of records.',
    defaultNote: 'DATABASE_URL',
    parse: postgresUrl,
  }),
  dbPoolSize: setting({
    name: 'SERVICE_DB_POOL_SIZE',
    description: 'The most connections of each of two pools, with SERVICE_DB_MAX_OVERFLOW added.',
    default: '10',
    parse: wholeNumber(1, 1000),
  }),
  dbMaxOverflow: setting({
    name: 'SERVICE_DB_MAX_OVERFLOW',
    description: 'Added to SERVICE_DB_POOL_SIZE: only the sum counts.',
    default: '10',
    parse: wholeNumber(0, 1000),
  }),
  maxActivePolicies: setting({
    name: 'SERVICE_MAX_ACTIVE_POLICIES',
    description:
      'Active policies a tenant may have. Every call evaluates all of them: see docs/operations/deploy.md.',
    default: '300',
    parse: wholeNumber(1, 10_000),
  }),
  webhookUrl: setting({
    name: 'SERVICE_WEBHOOK_URL',
    description: 'Where alerts are posted, signed under SERVICE_WEBHOOK_SECRET.',
    defaultNote: 'alerts are not posted',
    parse: webAddress,
  }),
  webhookMinSeverity: setting({
    name: 'SERVICE_WEBHOOK_MIN_SEVERITY',
    description: 'The least severe alert that is posted: info, low, medium, high or critical.',
    default: 'high',
    parse: z.enum(SEVERITIES, { error: `must be one of ${SEVERITIES.join(', ')}` }),
  }),
  webhookSecret: setting({
    name: 'SERVICE_WEBHOOK_SECRET',
    description:
      'The header X-Service-Signature is the HMAC-SHA256 of the body under it, in hexadecimal.',
    defaultNote: 'derived from the master key, and written to `webhook-secret` in the data folder',
    parse: secretText,
  }),
  outboundAllow: setting({
    name: 'SERVICE_OUTBOUND_ALLOW',
    description:
      'Where SERVICE_WEBHOOK_URL and SERVICE_EVIDENCE_WITNESS_URLS may lead, with the syntax of SERVICE_UPSTREAM_ALLOW. An IP address written in such a URL is always allowed.',
    defaultNote: '`global` in production, else `*`',
    parse: addressList,
  }),
  checkpointSeconds: setting({
    name: 'SERVICE_CHECKPOINT_SECONDS',
    description:
      "How often tenants' logs that have grown get a signed checkpoint (docs/evidence.md).",
    default: '2',
    parse: wholeNumber(1, 3600),
  }),
  witnesses: setting({
    name: 'SERVICE_EVIDENCE_WITNESS_URLS',
    description:
      'Witnesses that are asked to cosign checkpoints of the log (C2SP tlog-witness), separated by commas: each its verifier key, a blank, and its submission prefix (docs/evidence.md).',
    default: '',
    parse: witnessList,
  }),
  evidenceRetentionDays: setting({
    name: 'SERVICE_EVIDENCE_RETENTION_DAYS',
    description: 'How long an evidence package that was made is kept for download.',
    default: '7',
    parse: wholeNumber(1, 365),
  }),
  verifierPublicUrl: setting({
    name: 'VERIFIER_PUBLIC_URL',
    description:
      "The verifier's public address. Evidence packages contain it with /trust-anchor.json, so it must resolve for as long as they are kept.",
    default: 'http://localhost:8090',
    parse: webAddress.transform((url) => url.replace(/\/+$/, '')),
  }),
  dispositionFlushSeconds: setting({
    name: 'SERVICE_DISPOSITION_FLUSH_SECONDS',
    description:
      'How often new records are examined: dispositions are stored, and unusual requesters, and data sent in several sessions, raise alerts (docs/sessions.md, docs/dlp.md).',
    default: '60',
    parse: wholeNumber(1, 60),
  }),
  sseKeepaliveSeconds: setting({
    name: 'SERVICE_SSE_KEEPALIVE_SECONDS',
    description: 'Between the keep-alive comments of the audit stream.',
    default: '15',
    parse: wholeNumber(1, 3600),
  }),
};

type Values = SettingValues<typeof CONTROL_PLANE_SETTINGS>;
export type ControlPlaneConfig = Omit<Values, 'publicUrl'> & { publicUrl: string };

/**
 * @param env usually `process.env`
 * @throws ConfigurationError naming every variable that is wrong or, in production, missing
 */
export function parseControlPlaneConfig(env: NodeJS.ProcessEnv): ControlPlaneConfig {
  const values = parseSettings(CONTROL_PLANE_SETTINGS, env, (given) => [
    ...findMissing(given),
    ...findUnmatchedKeys(given),
    ...findMovingSecret(given),
    ...findUnmetProviders(given),
  ]);
  return { ...values, publicUrl: values.publicUrl ?? defaultPublicUrl(values.host, values.port) };
}

type Given = ReadableValues<typeof CONTROL_PLANE_SETTINGS>;

function findMissing(given: Given): SettingProblem[] {
  if (given.env !== 'production') return [];
  const { adminPassword, masterKey } = CONTROL_PLANE_SETTINGS;
  const problems: SettingProblem[] = [];
  if (given.adminPassword === undefined) {
    problems.push({ name: adminPassword.name, message: 'is required in production' });
  }
  // An external database outlives the data folder, and several control planes may share it.
  if (given.databaseUrl !== undefined && given.masterKey === undefined) {
    const message = `is required in production with ${CONTROL_PLANE_SETTINGS.databaseUrl.name}`;
    problems.push({ name: masterKey.name, message });
  }
  return problems;
}

/** A provider that could never answer is reported at the start, not at the first payload. */
function findUnmetProviders({ kmsProviders = [], ...given }: Given): SettingProblem[] {
  const { vaultAddress, vaultToken, azureKeyVaultUrl, ...others } = CONTROL_PLANE_SETTINGS;
  const { kmsProviders: list, kmsLibraries } = others;
  const needed = (provider: KeyProviderName, value: unknown, name: string) =>
    kmsProviders.includes(provider) && value === undefined
      ? [{ name, message: `is needed with ${provider} in ${list.name}` }]
      : [];
  const missing = kmsProviders.flatMap((provider) =>
    findMissingPackages(provider, (name) => resolvePackage(name, given.kmsLibraries)),
  );
  return [
    ...needed('vault', given.vaultAddress, vaultAddress.name),
    ...needed('vault', given.vaultToken, vaultToken.name),
    ...needed('azure', given.azureKeyVaultUrl, azureKeyVaultUrl.name),
    ...(missing.length > 0
      ? [{ name: list.name, message: `needs ${missing.join(', ')} in ${kmsLibraries.name}` }]
      : []),
  ];
}

function findUnmatchedKeys({ jwtPrivateKey, jwtPublicKey }: Given): SettingProblem[] {
  const [privateName, publicName] = ['SERVICE_JWT_PRIVATE_KEY', 'SERVICE_JWT_PUBLIC_KEY'];
  if (jwtPrivateKey && jwtPublicKey) {
    const derived = createPublicKey(jwtPrivateKey.reveal());
    if (derived.equals(jwtPublicKey.reveal())) return [];
    return [{ name: publicName, message: `is not the public half of ${privateName}` }];
  }
  if (!jwtPrivateKey && !jwtPublicKey) return [];
  return jwtPrivateKey
    ? [{ name: publicName, message: `is needed with ${privateName}` }]
    : [{ name: privateName, message: `is needed with ${publicName}` }];
}

/** A webhook secret derived from the master key changes with it; receivers have the old one. */
function findMovingSecret(given: Given): SettingProblem[] {
  const { masterKeyPrevious, webhookUrl, webhookSecret } = given;
  if (!masterKeyPrevious || !webhookUrl || webhookSecret) return [];
  const message =
    'is needed with SERVICE_MASTER_KEY_PREVIOUS, or the secret of webhooks would change with the master key: it is in the file webhook-secret of the data folder';
  return [{ name: CONTROL_PLANE_SETTINGS.webhookSecret.name, message }];
}
