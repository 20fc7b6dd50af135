/**
 * Uploads in progress have a share of their own, so that slow ones keep no verification waiting. It
 * is bounded in number and in bytes, overall and for each address. Proven by uploads.test.ts.
 */
import type { Readable } from 'node:stream';

export interface UploadLimits {
  number: number;
  numberOfAddress: number;
  /** Received, not declared: a slow upload that declares much takes nothing. */
  bytes: number;
  bytesOfAddress: number;
  /** Each window must bring so much: an average would let a burst pay for a long stall. */
  windowMs: number;
  bytesOfWindow: number;
}

/** @param bodyLimit bytes of the largest body */
export function uploadLimits(concurrency: number, bodyLimit: number): UploadLimits {
  return {
    number: 256,
    numberOfAddress: 8,
    bytes: (concurrency + 1) * bodyLimit,
    // Always room for one body, and for those of another address.
    bytesOfAddress: Math.floor((concurrency + 1) / 2) * bodyLimit,
    windowMs: 10_000,
    bytesOfWindow: 10 * 1024,
  };
}

/** An upload that is not waited for. */
export class UploadRefused extends Error {
  readonly reason: 'busy' | 'slow';

  constructor(reason: 'busy' | 'slow') {
    super(`the upload is refused: ${reason}`);
    this.name = 'UploadRefused';
    this.reason = reason;
  }
}

interface Share {
  number: number;
  bytes: number;
}

/** Bounds the uploads in progress, in all and for each address, and ends those that are too slow. */
export function createUploads(limits: UploadLimits) {
  const overall: Share = { number: 0, bytes: 0 };
  const byAddress = new Map<string, Share>();

  /** Counts an upload until its end. */
  function begin(place: string) {
    const ofAddress = byAddress.get(place) ?? { number: 0, bytes: 0 };
    if (overall.number >= limits.number || ofAddress.number >= limits.numberOfAddress) {
      throw new UploadRefused('busy');
    }
    byAddress.set(place, ofAddress);
    const own: Share = { number: 0, bytes: 0 };
    const shares = [own, ofAddress, overall];
    for (const share of shares) share.number++;
    return {
      own,
      /** @returns whether the bytes fit */
      add(bytes: number): boolean {
        for (const share of shares) share.bytes += bytes;
        return ofAddress.bytes <= limits.bytesOfAddress && overall.bytes <= limits.bytes;
      },
      end(): void {
        const { bytes } = own;
        for (const share of shares) {
          share.number--;
          share.bytes -= bytes;
        }
        if (ofAddress.number === 0) byAddress.delete(place);
      },
    };
  }

  /**
   * Lets a body be read within the share.
   *
   * @param place `addressGroup` of the client
   * @param payload caller-controlled
   * @param read reads the payload
   * @throws UploadRefused; whatever `read` throws
   */
  async function receive<T>(place: string, payload: Readable, read: () => Promise<T>): Promise<T> {
    const upload = begin(place);
    let stop = () => {};
    const refused = new Promise<never>((_resolve, reject) => {
      const onData = (chunk: Buffer) => {
        if (!upload.add(chunk.length)) reject(new UploadRefused('busy'));
      };
      let before = 0;
      const timer = setInterval(() => {
        if (upload.own.bytes - before < limits.bytesOfWindow) reject(new UploadRefused('slow'));
        before = upload.own.bytes;
      }, limits.windowMs);
      payload.on('data', onData);
      stop = () => {
        clearInterval(timer);
        payload.off('data', onData);
      };
    });
    try {
      return await Promise.race([read(), refused]);
    } finally {
      stop();
      upload.end();
    }
  }

  /**
   * Counts work for a client as one of its uploads, in number: what a host sends that it named.
   *
   * @throws UploadRefused; whatever `work` throws
   */
  async function hold<T>(place: string, work: () => Promise<T>): Promise<T> {
    const upload = begin(place);
    try {
      return await work();
    } finally {
      upload.end();
    }
  }

  return { receive, hold };
}
