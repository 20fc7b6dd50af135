/**
 * Tasks of modern servers (extension `io.modelcontextprotocol/tasks`). A server knows the gateway
 * but not its agents, so the gateway separates them: an agent gets a task's id with a seal that is
 * valid only for this agent and server, and at this data plane (all its workers have the key).
 */
import type { KeyObject } from 'node:crypto';
import { isStorableText } from '@governance/shared/text';
import type { Answer } from '../../enforcement/call/answer.ts';
import { isTaskMethod } from '../../enforcement/call/call-kinds.ts';
import type { AgentKey, Ask } from '../../enforcement/call/calls.ts';
import { internalRefusal } from '../../enforcement/record/refusals.ts';
import { isObject } from '../../upstream/message.ts';
import { withMember } from '../json-members.ts';
import { createSeals, SEAL_LENGTH } from '../seals.ts';

export type TaskHandles = ReturnType<typeof createTaskHandles>;

const MAX_TASK_ID = 1024;

/**
 * Builds them.
 *
 * @param secret this data plane's own; the seals become invalid with it
 */
export function createTaskHandles(secret: KeyObject) {
  const { sealOf, isSealed } = createSeals(secret, 'mcp task handles');

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
      const isWhole = handle.at(-(SEAL_LENGTH + 1)) === '~';
      const owner = `${agent} ${ask.serverId}`;
      if (!isWhole || !isSealed([owner, taskId], handle.slice(-SEAL_LENGTH))) return;
      return { ...ask, args: { ...ask.args, taskId }, hasProvenTask: true };
    },

    /**
     * The answer with the agent's own id of the task, where it contains one. An id that `open` could
     * not take back is refused: the agent would wait for a task that it can never ask for. So is the
     * id of a task that was not asked for: it would become the agent's own, and was not scanned.
     *
     * @param ask with the server's own id of the task
     */
    seal(agent: AgentKey, ask: Ask, answer: Answer): Answer {
      if (answer.kind !== 'result' || !isObject(answer.value)) return answer;
      const { value } = answer;
      const isTask = value.resultType === 'task' || isTaskMethod(ask.method);
      // What is done to a task may be answered without its id.
      if (!isTask || (value.taskId === undefined && value.resultType !== 'task')) return answer;
      if (!isUsable(value.taskId)) return internalRefusal(UNUSABLE);
      if (isTaskMethod(ask.method) && value.taskId !== ask.args.taskId) {
        return internalRefusal(NOT_ASKED_FOR);
      }
      const taskId = `${value.taskId}~${sealOf([`${agent} ${ask.serverId}`, value.taskId])}`;
      const raw = withMember(answer.raw, value, 'taskId', taskId);
      return { kind: 'result', raw, value: { ...value, taskId } };
    },
  };
}

const UNUSABLE = 'The MCP server gave its task an id that the gateway cannot pass on.';
const NOT_ASKED_FOR = 'The MCP server answered with another task than was asked for.';

/** @param taskId written by a server */
function isUsable(taskId: unknown): taskId is string {
  return typeof taskId === 'string' && taskId.length <= MAX_TASK_ID && isStorableText(taskId);
}
