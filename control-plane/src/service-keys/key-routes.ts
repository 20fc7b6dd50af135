/** The keys of the service, for its operator; they belong to no tenant. */
import { SignedRotationView } from '@governance/shared/evidence/evidence-keys';
import { Text, Timestamp } from '@governance/shared/text';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { MasterKeyUse, Rewrap } from '../master-key/rewrap.ts';
import { ErrorBody } from '../platform/http/schemas.ts';
import type { StoredRotation } from '../platform/keys/keys.ts';
import { KeyPurposeName, purposeName, UNKNOWN_PURPOSE } from './key-purpose.ts';
import type { KeyService, KeyView } from './key-service.ts';

const tags = ['keys'];

/** Without a body, a new key follows the current one, which stays accepted. */
const RotateBody = z
  .strictObject({
    /** For a compromised key: it ends now, and nothing that it signed is accepted any more. */
    revoke: z.boolean().default(false),
    reason: Text.min(1).max(2_000).nullable().default(null),
  })
  .nullish()
  .transform((body) => body ?? { revoke: false, reason: null });

const RotationView = z
  .object({
    /** The rotation's number, over all keys. */
    number: z.int(),
    purpose: KeyPurposeName,
    old_kid: z.string(),
    new_kid: z.string(),
    /** From when the new key signs. */
    valid_from: Timestamp,
    /** Whether the previous key is no longer accepted. */
    revokes: z.boolean(),
    reason: z.string().nullable(),
    actor: z.string(),
    rotated_at: Timestamp,
    /** The statement, with the signatures of both keys. */
    statement: SignedRotationView,
  })
  .meta({ id: 'KeyRotation' });

const ServiceKeyView = z
  .object({
    kid: z.string(),
    purpose: KeyPurposeName,
    state: z.enum(['signing', 'next', 'accepted', 'revoked']),
    /** A public JWK. */
    jwk: z.looseObject({ kty: z.string(), kid: z.string(), alg: z.string() }),
    valid_from: Timestamp,
    valid_to: Timestamp.nullable(),
    revoked_at: Timestamp.nullable(),
    revoke_reason: z.string().nullable(),
  })
  .meta({ id: 'ServiceKey' });

/** A stored key that the service neither signs with nor accepts. */
const UnusableKeyView = z
  .object({
    kid: z.string(),
    /** `unknown` where its row names none. */
    purpose: z.enum([...KeyPurposeName.options, UNKNOWN_PURPOSE]),
    /** Why its row cannot be used. */
    reason: z.string(),
  })
  .meta({ id: 'UnusableKey' });

const MasterKeyView = z
  .object({
    /** Names SERVICE_MASTER_KEY without revealing it. */
    key_id: z.string(),
    /** The ids of the keys in SERVICE_MASTER_KEY_PREVIOUS. */
    previous: z.array(z.string()),
    /** Whether anything in the database is still encrypted under another key. */
    previous_needed: z.boolean(),
    ciphertexts: z.array(
      z.object({
        kind: z.string(),
        key_id: z.string(),
        /** `unknown`: the service does not have the key, and cannot decrypt these. */
        state: z.enum(['current', 'previous', 'unknown']),
        count: z.int(),
      }),
    ),
  })
  .meta({ id: 'MasterKeyUse' });

export const keyRoutes =
  (keys: KeyService, rewrap: Pick<Rewrap, 'readUse'>): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/api/v1/admin/keys',
      {
        config: { guard: 'super-admin' },
        schema: {
          summary: 'The public keys of the service, and how they followed one another',
          tags,
          response: {
            200: z.object({
              keys: z.array(ServiceKeyView),
              rotations: z.array(RotationView),
              unusable: z.array(UnusableKeyView),
              master_key: MasterKeyView,
            }),
          },
        },
      },
      async () => {
        const [found, use] = await Promise.all([keys.list(), rewrap.readUse()]);
        return {
          keys: found.keys.map(toKeyView),
          rotations: found.rotations.map(toView),
          unusable: found.unusable.map(({ purpose, ...key }) => ({
            ...key,
            purpose: purpose === null ? UNKNOWN_PURPOSE : purposeName(purpose),
          })),
          master_key: toMasterKeyView(use),
        };
      },
    );

    app.post(
      '/api/v1/admin/keys/:purpose/rotate',
      {
        config: { guard: 'super-admin' },
        schema: {
          summary: 'Rotate a key; if somebody else may have it, revoke it as well',
          tags,
          params: z.object({ purpose: KeyPurposeName }),
          body: RotateBody,
          response: { 200: RotationView, 404: ErrorBody, 409: ErrorBody },
        },
      },
      async (request) => {
        const { actor, body, id: requestId } = request;
        return toView(await keys.rotate(request.params.purpose, { ...body, actor, requestId }));
      },
    );
  };

function toView(rotation: StoredRotation): z.input<typeof RotationView> {
  return {
    number: rotation.number,
    purpose: purposeName(rotation.purpose),
    old_kid: rotation.oldKid,
    new_kid: rotation.newKid,
    valid_from: rotation.signed.statement.valid_from,
    revokes: rotation.revokes,
    reason: rotation.reason,
    actor: rotation.actor.username,
    rotated_at: rotation.rotatedAt.toISOString(),
    statement: rotation.signed,
  };
}

function toMasterKeyView(use: MasterKeyUse): z.input<typeof MasterKeyView> {
  return {
    key_id: use.keyId,
    previous: [...use.previousIds],
    previous_needed: use.ciphertexts.some(({ state }) => state !== 'current'),
    ciphertexts: use.ciphertexts.map(({ keyId, ...rest }) => ({ key_id: keyId, ...rest })),
  };
}

function toKeyView(key: KeyView): z.input<typeof ServiceKeyView> {
  return {
    kid: key.kid,
    purpose: purposeName(key.purpose),
    state: key.state,
    jwk: key.publicJwk,
    valid_from: key.from.toISOString(),
    valid_to: key.to?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    revoke_reason: key.revokeReason,
  };
}
