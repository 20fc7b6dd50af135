/**
 * Work on foreign text in portions, so that the caller can do other things in between: a scan of
 * megabytes takes longer than others may wait.
 */

/** Yields the number of UTF-16 units read since the last time. */
export type Portioned<T> = Generator<number, T, void>;

/** Does all the work without a pause. */
export function atOnce<T>(work: Portioned<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
