import { expect, it } from 'vitest';
import { withoutTenants } from './metrics-text.ts';

it('adds up the tenants’ values, and names no tenant', () => {
  const text = `# HELP refusals by tenant_id="x"
# TYPE refusals counter
refusals{tenant_id="a",channel="feed",code="stale"} 2
refusals{tenant_id="b",channel="feed",code="stale"} 3
refusals{tenant_id="b",channel="bundle",code="stale"} 1
lag{tenant_id="a"} 1.5
lag{tenant_id="b"} 2
seconds_bucket{le="1",tenant_id="a"} 4
seconds_bucket{le="1",tenant_id="b"} 5
process_cpu{core="0"} 7
up 1
`;
  expect(withoutTenants(text)).toBe(`# HELP refusals by tenant_id="x"
# TYPE refusals counter
refusals{channel="feed",code="stale"} 5
refusals{channel="bundle",code="stale"} 1
lag 3.5
seconds_bucket{le="1"} 9
process_cpu{core="0"} 7
up 1
`);
});
