/**
 * The order of the test files. Slow files start first, or the last of them would run alone while
 * the other workers idle. Files are ordered by the times of an earlier run; a fresh clone has none
 * and orders them by size, a rough estimate.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const SLOW = [
  /\/tests\/[^/]+$/,
  /\/policies\/src\/compiler\/hostile\./,
  /\/control-plane\/src\/data-planes\/(token-life|silence-watch)\./,
  /\/control-plane\/src\/platform\/(embedded-postgres|postgres-keeper|lock-waits)\./,
  /\/control-plane\/src\/evidence\/export\/(export|lying-planes)\./,
  /\/verifier\/(src\/one-byte|second-opinion\/second-opinion)\./,
  /\/data-plane\/src\/gateway\/limits\//,
  /\/data-plane\/src\/gateway\/([a-z]+-journeys|legacy\/client-peer)\./,
  /\/data-plane\/src\/ledger\/ledger-crash\./,
  /\/data-plane\/src\/(identity\/rotate-own-keys|upstream\/sessions\/era-session)\./,
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) =>
      SLOW.some((pattern) => pattern.test(moduleId));
    const ordered = await super.sort(files);
    // A process is shared only by files that follow each other.
    const rank = (file: TestSpecification) =>
      (file.project.config.isolate ? 0 : 2) + (isSlow(file) ? 0 : 1);
    return ordered.toSorted((a, b) => rank(a) - rank(b));
  }
}
