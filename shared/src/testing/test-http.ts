import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/**
 * A server for a test whose answers wait for something. A caller that hangs up, or whatever an answer
 * waits for and is gone when the test ends, cuts that connection: left alone, such a rejection has no
 * owner and fails the whole run.
 */
export function createPatientServer(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Server {
  return createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
}
