/**
 * How many questions of one agent an OPA server has at a time; further ones wait. It has no fuel: an
 * agent that sends many calls that are costly to judge would have it answer nobody, not even a
 * probe. Proven by opa-server.test.ts.
 */
export type AgentTurns = ReturnType<typeof createAgentTurns>;

/** @param atOnce questions of one agent */
export function createAgentTurns(atOnce: number) {
  const agents = new Map<string, { asked: number; waiting: Set<() => void> }>();

  return {
    /**
     * Waits for a turn, which `give` ends.
     *
     * @returns false where none came in `ms`
     */
    async take(agentId: string, ms: number): Promise<boolean> {
      const agent = agents.get(agentId) ?? { asked: 0, waiting: new Set() };
      agents.set(agentId, agent);
      if (agent.asked < atOnce) {
        agent.asked++;
        return true;
      }
      return new Promise((resolve) => {
        const begin = () => {
          clearTimeout(timer);
          resolve(true);
        };
        const timer = setTimeout(() => {
          agent.waiting.delete(begin);
          resolve(false);
        }, ms);
        agent.waiting.add(begin);
      });
    },

    /** Passes the turn on to the agent's next question. */
    give(agentId: string): void {
      const agent = agents.get(agentId);
      if (!agent) return;
      const [next] = agent.waiting;
      if (next) {
        agent.waiting.delete(next);
        next();
      } else if (--agent.asked === 0) agents.delete(agentId);
    },
  };
}
