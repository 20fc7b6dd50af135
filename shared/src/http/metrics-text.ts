/**
 * Metrics without tenants, for readers without a token: the series of all tenants are added up.
 *
 * @param text in Prometheus's text format, of this service's own registries
 */
export function withoutTenants(text: string): string {
  const lines: (string | { series: string })[] = [];
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const end = line.startsWith('#') ? -1 : line.indexOf('tenant_id="');
    if (end < 0) {
      lines.push(line);
      continue;
    }
    const space = line.lastIndexOf(' ');
    const series = line
      .slice(0, space)
      .replace(/tenant_id="[^"]*",?/, '')
      .replace(/,\}$/, '}')
      .replace(/\{\}$/, '');
    if (!sums.has(series)) lines.push({ series });
    sums.set(series, (sums.get(series) ?? 0) + Number(line.slice(space + 1)));
  }
  return lines
    .map((line) => (typeof line === 'string' ? line : `${line.series} ${sums.get(line.series)}`))
    .join('\n');
}
