/** The proxy that most Node teams would use off the shelf. */
import proxy from '@fastify/http-proxy';
import fastify from 'fastify';

const app = fastify();
await app.register(proxy, {
  upstream: process.env.BACKEND as string,
  prefix: '/mcp/v1/bench',
  rewritePrefix: '/mcp',
  undici: { connections: 256 },
});
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
