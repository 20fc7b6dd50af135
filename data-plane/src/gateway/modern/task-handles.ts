/**
 * Tasks of modern servers (extension `io.modelcontextprotocol/tasks`). A server knows the gateway and
 * not its agents, so the gateway keeps them apart: an agent gets a task's id with a seal that holds
 * for this agent and server alone, and at this data plane (all its workers have the key).
 */
import { createHmac, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Answer } from '../../enforcement/answer.ts';
import { isTaskMethod } from '../../enforcement/call-kinds.ts';
import type { AgentKey, Ask } from '../../enforcement/calls.ts';
import { isObject } from '../../upstream/message.ts';
import { withMember } from '../json-members.ts';

export type TaskHandles = ReturnType<typeof createTaskHandles>;

const SEAL_BYTES = 16;
const SEAL_LENGTH = 22;
const MAX_TASK_ID = 1024;

/**
 * Builds them.
 *
 * @param secret this data plane's own; the seals end with it
 */
export function createTaskHandles(secret: KeyObject) {
  const bytes = secret.export({ type: 'pkcs8', format: 'der' });
  const key = Buffer.from(hkdfSync('sha256', bytes, '', 'mcp task handles', 32));

  function sealOf(taskId: string, owner: string): string {
    const mac = createHmac('sha256', key)
      .update(JSON.stringify([owner, taskId]))
      .digest();
    return mac.subarray(0, SEAL_BYTES).toString('base64url');
  }

  return {
    /**
     * The call with the server's own id of the task.
     *
     * @returns undefined where the agent has no such task
     */
    open(agent: AgentKey, ask: Ask): Ask | undefined {
      const handle = ask.args.taskId;
      if (typeof handle !== 'string' || handle.length > MAX_TASK_ID + SEAL_LENGTH + 1) return;
      const taskId = handle.slice(0, -(SEAL_LENGTH + 1));
      const given = Buffer.from(handle.slice(-SEAL_LENGTH));
      const expected = Buffer.from(sealOf(taskId, `${agent} ${ask.serverId}`));
      if (handle.at(-(SEAL_LENGTH + 1)) !== '~' || given.length !== expected.length) return;
      if (!timingSafeEqual(given, expected)) return;
      return { ...ask, args: { ...ask.args, taskId } };
    },

    /** The answer with the agent's own id of the task, where it names one. */
    seal(agent: AgentKey, ask: Ask, answer: Answer): Answer {
      if (answer.kind !== 'result' || !isObject(answer.value)) return answer;
      const { value } = answer;
      const isTask = value.resultType === 'task' || isTaskMethod(ask.method);
      if (!isTask || typeof value.taskId !== 'string') return answer;
      const taskId = `${value.taskId}~${sealOf(value.taskId, `${agent} ${ask.serverId}`)}`;
      const raw = withMember(answer.raw, value, 'taskId', taskId);
      return { kind: 'result', raw, value: { ...value, taskId } };
    },
  };
}
