/** Builds the session with a server, whichever era it turns out to have. */
import type { Logger } from 'pino';
import { HttpChannel, type HttpChannelOptions } from '../http/http-channel.ts';
import { HttpUpstreamSession } from '../http/http-session.ts';
import type { SessionOptions } from '../initialize.ts';
import { HttpModernTransport } from '../modern/http-transport.ts';
import { ModernUpstreamSession } from '../modern/modern-session.ts';
import { StdioModernTransport } from '../modern/stdio-transport.ts';
import { ToolHeaders } from '../modern/tool-headers.ts';
import { StdioChannel, type StdioChannelOptions } from '../stdio/stdio-channel.ts';
import { StdioUpstreamSession } from '../stdio/stdio-session.ts';
import type { UpstreamLimits, UpstreamSession } from '../upstream.ts';
import { EraSession, type EraSessionOptions } from './era-session.ts';

interface CommonOptions
  extends Omit<EraSessionOptions, 'create' | 'patienceMs'>,
    Pick<SessionOptions, 'client' | 'peer'> {
  serverId: string;
  limits: UpstreamLimits;
  log: Pick<Logger, 'info' | 'warn'>;
}

/**
 * How long a process may be silent to `server/discover`: some legacy servers drop everything before
 * `initialize`.
 */
const STDIO_PATIENCE_MS = 3000;

/** A session with a server over Streamable HTTP. */
export function createHttpServerSession(
  options: CommonOptions & HttpChannelOptions,
): UpstreamSession {
  const toolHeaders = new ToolHeaders(options.serverId, options.log);
  return new EraSession({
    ...options,
    create(era, onEraRefused) {
      if (era === 'legacy') return new HttpUpstreamSession({ ...options, onEraRefused });
      const transport = new HttpModernTransport(new HttpChannel(options), toolHeaders);
      return new ModernUpstreamSession(transport, { ...options, toolHeaders, onEraRefused });
    },
  });
}

/** A session with a process of its own; with a second one if the first is of the other era. */
export function createStdioServerSession(
  options: CommonOptions & StdioChannelOptions,
): UpstreamSession {
  return new EraSession({
    ...options,
    patienceMs: STDIO_PATIENCE_MS,
    create(era, onEraRefused) {
      // Each era has a process of its own: `initialize` is no answer to `server/discover`.
      const channel = new StdioChannel(options);
      if (era === 'legacy') return new StdioUpstreamSession(channel, { ...options, onEraRefused });
      return new ModernUpstreamSession(new StdioModernTransport(channel), {
        ...options,
        onEraRefused,
        onOpenFailed: () => void channel.stop('the server could not be opened'),
      });
    },
  });
}
