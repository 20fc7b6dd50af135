/**
 * Work on foreign text in portions, so that whoever does it can do other things between them: a
 * scan of megabytes takes longer than anybody else may wait.
 */

/** Yields the UTF-16 units that it has read since it last did. */
export type Portioned<T> = Generator<number, T, void>;

/** Does all of it without a pause. */
export function atOnce<T>(work: Portioned<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
