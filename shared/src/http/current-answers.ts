/**
 * The answer that has a connection: those of the requests behind it wait (RFC 9112 section 9.3.2).
 * It has the connection until its last byte was given to the system, not just until it was ended.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const answers = new WeakMap<Socket, ServerResponse>();

/** Keeps `findAnswer` current for the connections of a server; call it before it listens. */
export function followAnswers(server: Pick<Server, 'on'>): void {
  server.on('request', ({ socket }, answer) => {
    const begin = () => {
      answers.set(socket, answer);
      answer.once('close', () => {
        if (answers.get(socket) === answer) answers.delete(socket);
      });
    };
    if (answer.socket === null) answer.once('socket', begin);
    else begin();
  });
}

/** @returns the answer in progress on a connection, if any */
export const findAnswer = (socket: Socket): ServerResponse | undefined => answers.get(socket);
