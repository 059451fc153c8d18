/** The last part of a stream. Whatever an agent prints, memory stays bounded and the agent is never held up. */
import type { Readable } from 'node:stream';

const TAIL_BYTES = 64 * 1024;

export interface Tail {
  /** At most the last 64 KB. */
  text: string;
  /** How many bytes there were in all. */
  bytes: number;
}

export class TailReader {
  #chunks: Buffer[] = [];
  #kept = 0;
  #bytes = 0;

  constructor(stream: Readable) {
    stream.on('data', (chunk: Buffer) => this.#add(chunk));
    // The other end may vanish at any time; its exit tells why.
    stream.on('error', () => {});
  }

  read(): Tail {
    return { text: Buffer.concat(this.#chunks).subarray(-TAIL_BYTES).toString('utf8'), bytes: this.#bytes };
  }

  #add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#kept += chunk.length;
    this.#chunks.push(chunk);
    for (
      let first = this.#chunks[0];
      first && this.#kept - first.length >= TAIL_BYTES;
      first = this.#chunks[0]
    ) {
      this.#kept -= first.length;
      this.#chunks.shift();
    }
  }
}
