/** Workflows for tests, as the feed of a control plane carries them, and their tokens. */
import { generateKeyPairSync, sign } from 'node:crypto';
import type { DelegationFact, WorkflowFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import {
  type SessionTokenClass,
  sessionTokenAudience,
  sessionTokenTyp,
} from '@governance/shared/tokens/session-token';
import type { TestPlane } from './test-plane.ts';

const keys = {
  workflow: generateKeyPairSync('ed25519'),
  delegation: generateKeyPairSync('ed25519'),
};

type Over = {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  key?: SessionTokenClass;
};

/** @param now of the plane */
export function createTestWorkflows(plane: TestPlane, now: () => number = Date.now) {
  const tellKeys = (kind: SessionTokenClass, kids: readonly string[]) => {
    const jwk = keys[kind].publicKey.export({ format: 'jwk' });
    plane.apply('optional.session_token_keys', kind, {
      issuer: plane.url,
      keys: kids.map((kid) => ({ ...jwk, kty: 'OKP', kid, alg: 'EdDSA' })),
    });
  };
  for (const kind of ['workflow', 'delegation'] as const) tellKeys(kind, [kind]);
  const inAnHour = () => new Date(now() + 3_600_000).toISOString();

  function token(kind: SessionTokenClass, subject: string, over: Over = {}): string {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const head = { alg: 'EdDSA', typ: sessionTokenTyp(kind), kid: kind, ...over.header };
    const iat = Math.floor(now() / 1000);
    const claims = {
      iss: plane.url,
      aud: sessionTokenAudience(kind, plane.url),
      sub: subject,
      iat,
      exp: iat + 3600,
      tenant_id: plane.tenantId,
      feed_seq: plane.cursor(),
      ...over.claims,
    };
    const signed = `${encode(head)}.${encode(claims)}`;
    const { privateKey } = keys[over.key ?? kind];
    return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
  }

  return {
    token,
    /** The same key by one more id. */
    addKey: (kind: SessionTokenClass, kid: string) => tellKeys(kind, [kind, kid]),
    /** A workflow with one running session. */
    start(over: Partial<WorkflowFact> & Pick<WorkflowFact, 'owner_agent_id'>) {
      const workflow: WorkflowFact = {
        id: uuidv7(),
        status: 'active',
        max_depth: 3,
        participants: [],
        ...over,
      };
      const sessionId = uuidv7();
      const change = (changed: Partial<WorkflowFact>) =>
        plane.apply('workflow', workflow.id, Object.assign(workflow, changed));
      const renew = (expiresAt = inAnHour()) =>
        plane.apply('workflow_session', sessionId, {
          id: sessionId,
          workflow_id: workflow.id,
          expires_at: expiresAt,
        });
      change({});
      renew();
      return {
        id: workflow.id,
        sessionId,
        change,
        renew,
        end: () => plane.apply('workflow_session', sessionId, null),
        token: (given?: Over) => token('workflow', sessionId, given),
      };
    },
    /** What one agent delegates to another. */
    delegate(
      sessionId: string,
      delegator: string,
      delegatee: string,
      over: Partial<DelegationFact> = {},
    ) {
      const fact: DelegationFact = {
        id: uuidv7(),
        workflow_session_id: sessionId,
        parent_delegation_id: null,
        delegator_agent_id: delegator,
        delegatee_agent_id: delegatee,
        depth: 1,
        tools: ['*'],
        resources: ['*'],
        requester: delegator,
        expires_at: inAnHour(),
        ...over,
      };
      plane.apply('delegation', fact.id, fact);
      return {
        id: fact.id,
        token: (given?: Over) => token('delegation', fact.id, given),
        revoke: () => plane.apply('delegation', fact.id, null),
      };
    },
  };
}
