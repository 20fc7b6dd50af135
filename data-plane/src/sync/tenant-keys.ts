/** The keys that may sign a tenant's bundles and feed now. */
import type { RegistrationAnswer } from '@governance/shared/channel/channels';
import { createHistoryFollower, rememberRevocations } from '@governance/shared/channel/follow-keys';
import type { LocalReplica } from '../replica/replica.ts';
import type { SyncLog } from './link/sync-failure.ts';

/** The feed announces a key before it signs, so that nothing has to be refused first. */
export function createTenantKeys(options: {
  answer: RegistrationAnswer;
  /** Keeps the answer durably, with revocations that the feed announced. */
  keepAnswer: (answer: RegistrationAnswer) => void;
  replica: Pick<LocalReplica, 'findKeyHistory'>;
  log: SyncLog;
}) {
  const { replica, log } = options;
  let { answer } = options;
  const { tenant_id: tenantId } = answer;
  const followHistory = createHistoryFollower();
  let keys = follow();

  function follow() {
    const history = replica.findKeyHistory(tenantId);
    const remembered = rememberRevocations(answer, history);
    if (remembered !== answer) {
      try {
        options.keepAnswer(remembered);
        answer = remembered;
      } catch (error) {
        // It is in force nevertheless. The replica has the history that announced it, and keeping it
        // is tried again with each change of the feed and after a restart.
        log.error({ err: error, tenantId }, 'a revocation of a key could not be kept');
      }
    }
    return followHistory(answer, history);
  }

  return {
    ofBundles: () => keys.bundle,
    ofFeed: () => keys.feed,
    /** Takes what the feed announced. */
    refresh: (): void => {
      keys = follow();
    },
    /** Takes those of a newer registration. */
    trust: (newer: RegistrationAnswer): void => {
      answer = newer;
      keys = follow();
    },
  };
}
