/**
 * Records events as data planes do: signed batches of 500 over HTTP, in order within each stream,
 * so that ingest makes every check.
 */
import {
  CHANNEL_PATHS,
  encodeBatch,
  NDJSON,
  REVISION_HEADER,
} from '@governance/shared/channel/channel-routes';
import type { RegistrationReply } from '@governance/shared/channel/channels';
import { request } from 'undici';
import { anOutcome, createWriter, type TestDataPlane } from '../../tests/support/a-data-plane.ts';
import { aRegistration } from '../../tests/support/a-registration.ts';
import type { AdminApi } from '../../tests/support/admin-api.ts';
import { aTypicalDecision } from '../typical-decision.ts';

const BATCH = 500;
const STREAMS = 4;
const AGENTS = 40;
/** The delay that a busy control plane asks for. */
const RETRY_MS = 1_000;

interface Writer {
  plane: TestDataPlane;
  send(): Promise<void>;
  revision: number;
}

/** @returns the number of recorded events */
export async function recordEvents(url: string, admin: AdminApi, events: number): Promise<number> {
  const { token } = await admin.post<{ token: string }>('/api/v1/admin/data-plane-tokens', {
    label: 'bench',
  });
  const agents: string[] = [];
  for (let n = 0; n < AGENTS; n++) {
    const named = { name: `bench-${n}`, agent_type: 'assistant', owner: 'bench' };
    agents.push((await admin.post<{ id: string }>('/api/v1/agents', named)).id);
  }
  const writers: Writer[] = [];
  for (let n = 0; n < STREAMS; n++) writers.push(await aWriter(url, token));
  const batches = Math.ceil(events / BATCH);
  let next = 0;
  await Promise.all(
    writers.map(async (writer) => {
      while (next < batches) {
        fill(writer, next++, agents);
        await writer.send();
        // Shipped records are no longer needed.
        writer.plane.records.splice(0);
      }
    }),
  );
  return batches * BATCH;
}

function fill({ plane, revision }: Writer, batch: number, agents: readonly string[]): void {
  if (plane.head.epoch === 0) plane.boot();
  for (let i = batch * BATCH; plane.records.length < BATCH; i++) {
    const agent_id = agents[i % agents.length] as string;
    const decision = aTypicalDecision(i, { agent_id, bundle_revision: revision });
    plane.append(decision);
    if (plane.records.length === BATCH) return;
    plane.append(anOutcome(decision.id, { result_digest: 'c'.repeat(64), result_bytes: 812 }));
  }
}

async function aWriter(url: string, root: string): Promise<Writer> {
  const { provenWith, signingKey } = aRegistration({ label: 'bench' });
  const registered = (await send(url + CHANNEL_PATHS.register, root, {
    body: JSON.stringify(provenWith(root)),
    type: 'application/json',
  }).then(({ body }) => body.json())) as RegistrationReply;
  const { tenant_id: tenantId, deployment_id: deploymentId, token } = registered;
  const bundle = await request(`${url}${CHANNEL_PATHS.bundle(tenantId)}`, {
    headers: { authorization: `Bearer ${token.token}`, prefer: 'wait=25' },
  });
  await bundle.body.arrayBuffer();
  const revision = Number(bundle.headers[REVISION_HEADER]);
  const plane = createWriter(tenantId, deploymentId, signingKey);
  const path = url + CHANNEL_PATHS.auditBatches(deploymentId);
  return {
    plane,
    revision,
    send: async () => {
      const body = encodeBatch(plane.batch(0));
      const { body: answer } = await send(path, token.token, { body, type: NDJSON });
      await answer.dump();
    },
  };
}

async function send(path: string, token: string, given: { body: string | Buffer; type: string }) {
  for (;;) {
    const answer = await request(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': given.type },
      body: given.body,
    });
    if (answer.statusCode === 200) return answer;
    const text = await answer.body.text();
    if (answer.statusCode !== 503) throw new Error(`${path}: ${answer.statusCode} ${text}`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
