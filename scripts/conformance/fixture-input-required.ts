/**
 * The part of the fixture that needs its client's input: tools and a prompt whose result is
 * `input_required` until the client has supplied it. The SDK asks clients with a session instead,
 * so both eras find the same tools.
 */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type GetPromptResult,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Seals state that a client keeps for the server until its next request. */
const states = createRequestStateCodec<string>({ key: 'the fixture keeps no secrets of its own' });

/** Refuses a state that a client changed. */
export const verifyRequestState = states.verify;

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] });

const askName = (message: string) =>
  inputRequired.elicit({ message, requestedSchema: z.object({ name: z.string() }) });
const askOk = () =>
  inputRequired.elicit({
    message: 'Please confirm',
    requestedSchema: z.object({ ok: z.boolean() }),
  });
const askModel = (content: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: content } }],
    maxTokens: 100,
  });

/** Every tool and prompt of this kind, under the names that the suite calls. */
export function registerInputRequired(server: McpServer): void {
  registerAsking(server, 'test_input_required_result_elicitation', {
    user_name: askName('What is your name?'),
  });
  registerAsking(server, 'test_input_required_result_sampling', {
    capital_question: askModel('What is the capital of France?'),
  });
  registerAsking(server, 'test_input_required_result_list_roots', {
    client_roots: inputRequired.listRoots(),
  });
  registerAsking(server, 'test_streaming_elicitation', { user_name: askName('Your name?') });
  // The SDK refuses to ask a client for a capability that it did not declare; this is tested.
  registerAsking(server, 'test_missing_capability', { answer: askModel('Anything') });
  registerStateful(server, 'test_input_required_result_request_state', { confirm: askOk() });
  registerStateful(server, 'test_input_required_result_tampered_state', { confirm: askOk() });
  registerStateful(server, 'test_input_required_result_multiple_inputs', {
    user_name: askName('What is your name?'),
    greeting: askModel('Generate a greeting'),
    client_roots: inputRequired.listRoots(),
  });
  registerRounds(server);
  registerByCapability(server);
  registerPrompt(server);
}

/** Asks for everything that is still unanswered; returns the result once nothing is missing. */
function registerAsking(server: McpServer, name: string, requests: InputRequests): void {
  server.registerTool(
    name,
    { description: `Asks for ${Object.keys(requests).join(', ')}` },
    async (context: ServerContext) => {
      const missing = missingOf(requests, context);
      if (missing !== undefined) return inputRequired({ inputRequests: missing });
      return text(`Answered: ${JSON.stringify(context.mcpReq.inputResponses)}`);
    },
  );
}

/** The same with a state, which the client must return unchanged. */
function registerStateful(server: McpServer, name: string, requests: InputRequests): void {
  server.registerTool(
    name,
    { description: `Asks for ${Object.keys(requests).join(', ')} and holds a state` },
    async (context: ServerContext) => {
      const missing = missingOf(requests, context);
      if (missing === undefined && context.mcpReq.requestState<string>() === name) {
        return text('state-ok');
      }
      return inputRequired({
        inputRequests: missing ?? requests,
        requestState: await states.mint(name),
      });
    },
  );
}

/** Asks twice, the second time for something else: the state records the progress. */
function registerRounds(server: McpServer): void {
  const rounds: InputRequests[] = [
    { step1: askName('Step 1: What is your name?') },
    {
      step2: inputRequired.elicit({
        message: 'Step 2: What is your favorite color?',
        requestedSchema: z.object({ color: z.string() }),
      }),
    },
  ];
  server.registerTool(
    'test_input_required_result_multi_round',
    { description: 'Asks two questions, one after the other' },
    async (context: ServerContext) => {
      const asked = Number(context.mcpReq.requestState<string>() ?? '-1');
      const last = rounds[asked];
      const answered = last !== undefined && missingOf(last, context) === undefined;
      const next = answered ? asked + 1 : Math.max(asked, 0);
      const inputRequests = rounds[next];
      if (inputRequests === undefined) return text('Both questions were answered.');
      return inputRequired({ inputRequests, requestState: await states.mint(String(next)) });
    },
  );
}

/** Asks for a form or a completion, whichever the client declared. */
function registerByCapability(server: McpServer): void {
  server.registerTool(
    'test_input_required_result_capabilities',
    { description: 'Asks for no more than the client can give' },
    async (context: ServerContext) => {
      const declared = declaredCapabilities(context);
      const requests: InputRequests = {
        ...(declared.elicitation && { user_name: askName('What is your name?') }),
        ...(declared.sampling && { answer: askModel('Say something') }),
      };
      const missing = missingOf(requests, context);
      return missing === undefined
        ? text('Nothing left to ask.')
        : inputRequired({ inputRequests: missing });
    },
  );
}

function registerPrompt(server: McpServer): void {
  const requests: InputRequests = {
    user_context: inputRequired.elicit({
      message: 'What context should the prompt use?',
      requestedSchema: z.object({ context: z.string() }),
    }),
  };
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks for its context' },
    async (context: ServerContext): Promise<GetPromptResult | InputRequiredResult> => {
      const missing = missingOf(requests, context);
      if (missing !== undefined) return inputRequired({ inputRequests: missing });
      const given = JSON.stringify(context.mcpReq.inputResponses);
      return { messages: [{ role: 'user', content: { type: 'text', text: given } }] };
    },
  );
}

/** The capabilities that a modern client declared with its request. */
export function declaredCapabilities(context: ServerContext): ClientCapabilities {
  // The SDK has checked it, but its type is empty.
  const envelope = context.mcpReq.envelope as Record<string, ClientCapabilities> | undefined;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
}

/** @returns undefined once the client has answered every request */
function missingOf(requests: InputRequests, context: ServerContext): InputRequests | undefined {
  const missing = Object.entries(requests).filter(
    ([key]) => inputResponse(context.mcpReq.inputResponses, key).kind === 'missing',
  );
  return missing.length === 0 ? undefined : Object.fromEntries(missing);
}
