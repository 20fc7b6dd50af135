/**
 * CPU milliseconds of this process so far: what a limit on growing work is held against, since a busy
 * machine stretches the time of a clock and not this.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
