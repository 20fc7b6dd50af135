/** Writes down which test files failed, so that scripts/test.mjs can run them again, alone. */
import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule, TestRunEndReason } from 'vitest/node';

export default class FailedFiles implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const path = process.env.FAILED_FILES;
    // An error outside of tests belongs to no file, and an interrupted run did not try all of them.
    if (path === undefined || unhandled.length > 0 || reason === 'interrupted') return;
    const failed = modules.filter((module) => !module.ok()).map(({ moduleId }) => moduleId);
    writeFileSync(path, JSON.stringify(failed));
  }
}
