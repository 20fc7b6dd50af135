/**
 * The baseline: the minimum that a proxy in Node can do, with node:http in front and undici behind.
 */
import { createServer } from 'node:http';
import { Pool } from 'undici';

const pool = new Pool(process.env.BACKEND as string, { connections: 256 });

createServer((request, response) => {
  pool
    .request({
      method: 'POST',
      path: '/mcp',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: request,
    })
    .then((upstream) => {
      response.writeHead(upstream.statusCode, {
        'content-type': upstream.headers['content-type'] ?? 'application/json',
      });
      upstream.body.pipe(response);
    })
    .catch(() => response.writeHead(502).end());
}).listen(Number(process.env.PORT), '127.0.0.1');
