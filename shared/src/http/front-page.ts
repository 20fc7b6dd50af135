/** `GET /`: what this service is and where to go, for browsers and curl. */
import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { z } from 'zod';
import { addressFor } from '../outbound/own-addresses.ts';

const FrontPage = z.object({
  service: z.string(),
  version: z.string(),
  mode: z.string(),
  description: z.string(),
  links: z.record(z.string(), z.string()).meta({ description: 'Where to go, by what is there.' }),
});
type FrontPage = z.infer<typeof FrontPage>;

export interface FrontPageOptions {
  publicUrl: string;
  version: string;
  /** SERVICE_DEPLOYMENT_MODE */
  mode: 'standalone' | 'control-plane' | 'data-plane';
  /** Configuration for the plane's own hooks. */
  config?: FastifyContextConfig;
}

const DESCRIPTION =
  'Stands between AI agents and their MCP tools: authenticates, judges, records and forwards every call.';

/** Paths below the service's address, by mode. */
const GATEWAY = { 'MCP gateway for agents': '/mcp/v1', 'tokens for agents': '/api/v1/auth/token' };
const MANAGEMENT = { 'every route of the management API': '/docs', 'its OpenAPI': '/docs/json' };
const SYSTEM = { health: '/health', readiness: '/ready' };
const LINKS = {
  standalone: { ...MANAGEMENT, ...GATEWAY, ...SYSTEM },
  'control-plane': { ...MANAGEMENT, ...SYSTEM },
  'data-plane': { ...GATEWAY, ...SYSTEM },
};

/** Adds the route: HTML where the client asks for it before JSON. */
export function addFrontPage(app: FastifyInstance, options: FrontPageOptions): void {
  const { publicUrl, version, mode, config = {} } = options;
  app.get(
    '/',
    {
      config,
      exposeHeadRoute: true,
      schema: {
        summary: 'What this is and where to go',
        description: 'HTML where Accept names text/html.',
        tags: ['system'],
        response: {
          200: {
            description: 'The page.',
            content: {
              'application/json': { schema: FrontPage },
              'text/html': { schema: z.string() },
            },
          },
        },
      },
      // The page is sent unchanged.
      serializerCompiler: () => (page) => (typeof page === 'string' ? page : JSON.stringify(page)),
    },
    async (request, reply) => {
      const address = addressFor(publicUrl, request.headers.host);
      const links = Object.fromEntries(
        Object.entries(LINKS[mode]).map(([what, path]) => [what, `${address}${path}`]),
      );
      const page = {
        service: 'agent-governance',
        version,
        mode,
        description: DESCRIPTION,
        links,
      };
      reply.header('vary', 'Accept, Host');
      if (!request.headers.accept?.includes('text/html')) return page;
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
        .header('x-content-type-options', 'nosniff');
      return asHtml(page) as unknown as FrontPage;
    },
  );
}

/** All its texts are the service's own. */
function asHtml({ version, mode, description, links }: FrontPage): string {
  const items = Object.entries(links).map(
    ([what, url]) => `<li><a href="${url}">${url}</a> ${what}</li>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Agent Governance Service</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
body { max-width: 44rem; margin: 3rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
</style>
<h1>Agent Governance Service</h1>
<p>${description}</p>
<p>Version ${version}, ${mode}.</p>
<ul>
${items.join('\n')}
</ul>
<p>README.md has a tutorial; docs/connect.md says how MCP clients connect.</p>
</html>
`;
}
