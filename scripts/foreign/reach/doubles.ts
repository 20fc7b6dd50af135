/**
 * What the foreign servers speak to in place of a mail service, a chat and a code host. Each notes
 * what arrived, and refuses what the real one would refuse.
 */
import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

export interface Double {
  port: number;
  /** What arrived, one line each. */
  arrived: string[];
  close(): Promise<void>;
}

/** An SMTP server (RFC 5321) that wants AUTH and notes each message's number of recipients. */
export async function startMail(): Promise<Double> {
  const arrived: string[] = [];
  const server = createServer((socket) => serveMail(socket, arrived));
  return listening(server as unknown as Server, arrived);
}

function serveMail(socket: Socket, arrived: string[]): void {
  let buffered = '';
  let isData = false;
  let isKnown = false;
  let recipients = 0;
  const say = (line: string) => socket.write(`${line}\r\n`);
  const command = (line: string) => {
    const word = line.slice(0, 4).toUpperCase();
    if (word === 'EHLO') return say('250-double\r\n250 AUTH PLAIN');
    if (word === 'AUTH') {
      isKnown = line.startsWith('AUTH PLAIN ');
      return say(isKnown ? '235 2.7.0 accepted' : '504 5.5.4 unknown mechanism');
    }
    if (word === 'QUIT') return socket.end('221 bye\r\n');
    if (word === 'RSET' || word === 'NOOP') return say('250 ok');
    if (!isKnown) return say('530 5.7.0 authentication required');
    if (word === 'MAIL') recipients = 0;
    if (word === 'RCPT') recipients++;
    if (word !== 'DATA') return say('250 ok');
    isData = true;
    return say('354 go on');
  };
  say('220 double ESMTP');
  socket.on('error', () => socket.destroy());
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    buffered += chunk;
    for (let end = buffered.indexOf('\r\n'); end >= 0; end = buffered.indexOf('\r\n')) {
      const line = buffered.slice(0, end);
      buffered = buffered.slice(end + 2);
      if (!isData) command(line);
      else if (line === '.') {
        isData = false;
        arrived.push(`a mail to ${recipients}`);
        say('250 taken');
      }
    }
  });
}

const SlackMessage = z.object({ channel: z.string().min(1), text: z.string().min(1) });

/** Slack's chat.postMessage: a bot's token and a JSON body. */
export async function startChat(): Promise<Double> {
  const arrived: string[] = [];
  const server = createHttpServer(async (request, response) => {
    const isBot = request.headers.authorization === 'Bearer xoxb-of-the-double';
    const body = SlackMessage.safeParse(parsed(await text(request)));
    const isTaken = isBot && request.url === '/api/chat.postMessage' && body.success;
    if (isTaken) arrived.push(`a message to ${body.data.channel}`);
    const answer = isTaken ? { ok: true, ts: '1.0' } : { ok: false, error: 'invalid_auth' };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  return listening(server, arrived);
}

/** GitLab's API: notes each change that has the token. */
export async function startCodeHost(): Promise<Double> {
  const arrived: string[] = [];
  const server = createHttpServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    await text(request);
    response.setHeader('content-type', 'application/json');
    const token = headers['private-token'] ?? headers.authorization;
    if (!String(token ?? '').includes('token-of-the-double')) {
      response.writeHead(401).end('{"message":"401 Unauthorized"}');
      return;
    }
    if (method !== 'GET') arrived.push(`${method} ${url.split('?')[0]}`);
    const branch = {
      name: 'feature/a',
      commit: { id: 'abc', web_url: 'http://x/' },
      web_url: 'http://x/',
    };
    if (method === 'DELETE') response.writeHead(204).end();
    else response.writeHead(method === 'POST' ? 201 : 200).end(JSON.stringify(branch));
  });
  return listening(server, arrived);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

async function listening(server: Server, arrived: string[]): Promise<Double> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    arrived,
    close: async () => {
      server.close();
      await once(server, 'close').catch(() => {});
    },
  };
}
