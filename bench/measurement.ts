/** What is measured for each target, and its medians. */
export type TargetName =
  | 'direct'
  | 'raw undici'
  | '@fastify/http-proxy'
  | 'gateway without enforcement'
  | 'governed'
  | 'data plane that ships'
  | 'mcp-proxy (Rust)';

export interface Measurement {
  target: TargetName;
  connections: number;
  round: number;
  requests_per_second: number;
  mean_ms: number;
  p50_ms: number;
  p99_ms: number;
  /**
   * All threads of the proxy's process, until the work that the load left behind is done; null for
   * the direct path, which has no proxy.
   */
  cpu_us_per_call: number | null;
  /** The peak while the load ran. */
  rss_mib: number | null;
  rss_above_idle_mib: number | null;
}

/** Medians over the rounds. */
export interface Row extends Omit<Measurement, 'round' | 'mean_ms'> {}
