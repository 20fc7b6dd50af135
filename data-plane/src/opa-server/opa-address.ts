/** The address of a tenant's OPA server: one address for one tenant, or a pattern for several. */

const PLACEHOLDER = '{tenant_id}';
const SAMPLE = '0190aaaa-0000-7000-8000-000000000000';

export interface OpaAddress {
  /** Whether each tenant has an address of its own. */
  readonly isPerTenant: boolean;
  /** The base address of a tenant's server; its path ends in a slash. */
  of(tenantId: string): URL;
}

/**
 * Reads SERVICE_OPA_URL.
 *
 * @param text an http or https address, in which `{tenant_id}` may stand
 * @throws Error saying what is wrong with it
 */
export function parseOpaAddress(text: string): OpaAddress {
  const of = (tenantId: string): URL => {
    const url = new URL(text.replaceAll(PLACEHOLDER, tenantId));
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    return url;
  };
  if (/[{}]/.test(text.replaceAll(PLACEHOLDER, ''))) {
    throw new Error(`${PLACEHOLDER} is the only placeholder`);
  }
  let sample: URL;
  try {
    sample = of(SAMPLE);
  } catch {
    throw new Error('must be an http or https address');
  }
  if (!/^https?:$/.test(sample.protocol)) throw new Error('must be an http or https address');
  if (sample.username || sample.password || sample.search || sample.hash) {
    throw new Error('must not hold credentials, a query or a fragment');
  }
  return { isPerTenant: text.includes(PLACEHOLDER), of };
}

/**
 * The message for an operator who lets one server decide for several tenants: it has the rules of one,
 * and would judge the others' calls by them.
 *
 * @returns undefined where `tenants` can be served
 */
export function findTenantProblem(
  address: Pick<OpaAddress, 'isPerTenant'> | undefined,
  tenants: number,
): string | undefined {
  if (address === undefined || address.isPerTenant || tenants <= 1) return undefined;
  return `names one OPA server, which decides for one tenant, and there are ${tenants}: run one a tenant and put ${PLACEHOLDER} into the address`;
}
