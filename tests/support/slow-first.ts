/**
 * The order of the test files. Those that take long begin first, or the last of them would run
 * alone while the other workers have nothing to do. Among themselves they go by the times of an
 * earlier run; a fresh clone has none, and then by size, which says little of how long one takes.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const SLOW = [
  /\/tests\/[^/]+$/,
  /\/policies\/src\/compiler\/hostile\./,
  /\/control-plane\/src\/data-planes\/(token-life|silence-watch)\./,
  /\/data-plane\/src\/gateway\/limits\//,
  /\/data-plane\/src\/gateway\/([a-z]+-journeys|legacy\/client-peer)\./,
  /\/data-plane\/src\/ledger\/ledger-crash\./,
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) =>
      SLOW.some((pattern) => pattern.test(moduleId));
    const ordered = await super.sort(files);
    return [...ordered.filter(isSlow), ...ordered.filter((file) => !isSlow(file))];
  }
}
