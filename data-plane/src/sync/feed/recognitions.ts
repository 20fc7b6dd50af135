/**
 * Up to when the control plane recognises this very data plane, by the statements beside its pages.
 * Those about the feed are the same for all data planes of a tenant: somebody between the planes
 * could keep a revoked one going with those for another. So once a control plane has recognised this
 * one by a statement, its others count here up to the newest of these. One that never did is older,
 * and they count as they are. Proven by recognitions.test.ts and replayed-statements.test.ts.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Recognition } from '@governance/shared/channel/signed-statement';
import { writeFileDurably } from '@governance/shared/process/durable-file';
import { FeedRefusedError } from '../link/feed-error.ts';
import { failureMessage, type SyncLog } from '../link/sync-failure.ts';

export type Recognitions = ReturnType<typeof loadRecognitions>;

/**
 * @param options.path the file that says that there were some
 * @param options.keptMs the newest time that counted before, Unix milliseconds; 0 for none
 */
export function loadRecognitions(options: {
  path: string;
  deploymentId: string;
  keptMs: number;
  log: SyncLog;
}) {
  const { path, deploymentId, log } = options;
  let isGiven = existsSync(path);
  let newest = options.keptMs;

  function keep(time: string): void {
    isGiven = true;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileDurably(path, `${time}\n`);
    } catch (error) {
      // The next start takes them for those of an older control plane, until it is recognised.
      log.warn({ reason: failureMessage(error) }, 'the recognition was not kept');
    }
  }

  return {
    /**
     * Takes one whose signature was verified.
     *
     * @param time its time as it counts here, Unix milliseconds
     * @throws FeedRefusedError statement_wrong_deployment
     */
    note: ({ deployment_id, time: stated }: Recognition, time: number): void => {
      if (deployment_id !== deploymentId) {
        const which = `the answer is for the data plane ${deployment_id}`;
        throw new FeedRefusedError('statement_wrong_deployment', which);
      }
      newest = Math.max(newest, time);
      if (!isGiven) keep(stated);
    },
    /** Of a clock that the control plane's operator has accepted, none has come yet. */
    restart: (): void => {
      newest = 0;
    },
    /** The time up to which a statement counts here; both Unix milliseconds. */
    asOf: (stated: number): number => (isGiven ? Math.min(stated, newest) : stated),
  };
}
