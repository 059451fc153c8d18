/**
 * What an MCP session has in hand: at most one task, whose lease is renewed for as long as the session lasts. Finishing
 * needs that lease; one that was lost is said with the reason.
 */
import {
  type AgentResult,
  type ClaimAnswer,
  isLaneError,
  type Kept,
  LaneError,
  maxPatchBytes,
  measurePatch,
  type PatchRef,
  type RecordedAnswer,
  type Workplace,
} from '../../../lanes/index.ts';
import type { FleetClient } from '../client.ts';
import { holdLease, leaseOf } from '../held.ts';
import { uploadPatch } from '../upload.ts';
import { endOf } from './end.ts';

export interface SessionParts {
  readonly client: FleetClient;
  readonly place: Workplace;
  readonly namespace: string;
  /** Proxy and certificate variables for git. */
  readonly networkEnv: Readonly<Record<string, string>>;
}

interface InHand {
  readonly claim: ClaimAnswer;
  readonly hold: Kept;
}

/** How often it is looked whether work has come, in ms. */
const lookEveryMs = 1_000;

export class McpSession {
  readonly #parts: SessionParts;
  #inHand: InHand | null = null;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  async pending(): Promise<number> {
    const { client, namespace } = this.#parts;
    return (await client.pending(namespace)).pending;
  }

  /** How many tasks wait, once there is one or the time is over. */
  async wait(waitMs: number, signal: AbortSignal): Promise<number> {
    const endMs = performance.now() + waitMs;
    for (;;) {
      const pending = await this.pending();
      const leftMs = endMs - performance.now();
      if (pending > 0 || leftMs <= 0) return pending;
      await new Promise((resolve) => setTimeout(resolve, Math.min(lookEveryMs, leftMs)));
      signal.throwIfAborted();
    }
  }

  /** @throws LaneError `wrong_state` while another task is in hand. */
  async claim(waitMs: number, signal: AbortSignal): Promise<ClaimAnswer | null> {
    const { client, namespace, place } = this.#parts;
    if (this.#inHand !== null && !this.#inHand.hold.signal.aborted) {
      throw new LaneError('wrong_state', 'finish or park the task that you hold first');
    }
    const claim = await client.claim(namespace, waitMs, signal);
    if (claim === null) return null;
    const hold = holdLease(client, { ...claim, lease: leaseOf(claim, place.owner.instance) });
    this.#inHand = { claim, hold };
    try {
      await client.begin(claim.lease);
    } catch (error) {
      this.#letGo();
      throw error;
    }
    return claim;
  }

  /** @returns in how many ms the lease ends. */
  async heartbeat(lease: string, progress: string | undefined): Promise<number> {
    this.#held(lease);
    return this.#parts.client.heartbeat(lease, progress);
  }

  /** @throws LaneError `proof_unverified`, `invalid_result`: the task is still in hand then. */
  async complete(
    lease: string,
    result: AgentResult,
    patch: { readonly text: string; readonly base: string | undefined } | undefined,
  ): Promise<RecordedAnswer> {
    const { client } = this.#parts;
    const { claim, hold } = this.#held(lease);
    const ref = patch === undefined ? undefined : await this.#handOver(claim, patch, hold.signal);
    const recorded = await client.complete(lease, endOf(claim, result, ref, Date.now()));
    this.#letGo();
    return recorded;
  }

  async park(lease: string, result: AgentResult): Promise<RecordedAnswer> {
    const { claim } = this.#held(lease);
    const recorded = await this.#parts.client.park(lease, endOf(claim, result, undefined, Date.now()));
    this.#letGo();
    return recorded;
  }

  /** Gives back what is in hand: the agent is gone. */
  async close(): Promise<void> {
    const held = this.#inHand;
    this.#letGo();
    if (held === null || held.hold.signal.aborted) return;
    // Where the App does not hear it, the lease ends by itself.
    await this.#parts.client.handBack(held.claim.lease, 'the session ended').catch(() => {});
  }

  #letGo(): void {
    this.#inHand?.hold.stop();
    this.#inHand = null;
  }

  #held(lease: string): InHand {
    const held = this.#inHand;
    if (held === null || held.claim.lease !== lease)
      throw new LaneError('lease_lost', 'no such task is in hand');
    const { signal } = held.hold;
    if (signal.aborted) {
      this.#letGo();
      throw isLaneError(signal.reason) ? signal.reason : new LaneError('lease_lost');
    }
    return held;
  }

  /** The patch is applied to its base before it goes up: one that does not apply is worth nothing to anybody. */
  async #handOver(
    claim: ClaimAnswer,
    { text, base }: { readonly text: string; readonly base: string | undefined },
    signal: AbortSignal,
  ): Promise<PatchRef | undefined> {
    const bytes = Buffer.from(text, 'utf8');
    if (!claim.lane.writes)
      throw new LaneError('invalid_result', 'this lane does not write: leave the patch out');
    if (bytes.length > maxPatchBytes) throw new LaneError('invalid_result', 'the patch is too long');
    const { client, place, networkEnv } = this.#parts;
    const { url: cloneUrl, token } = await client.checkout(claim.lease);
    const { repositoryId } = claim.input.issue;
    const source = { repositoryId, cloneUrl, networkEnv, ...(token === undefined ? {} : { token }) };
    const measured = await measurePatch(place, source, { bytes, base }, signal);
    const read = async (offset: number, length: number) => bytes.subarray(offset, offset + length);
    await uploadPatch(client, claim.lease, { ...measured, read }, signal);
    const { instance } = place.owner;
    return { ...measured, copy: `mcp-${place.id()}`, worker: instance, run: claim.run, partial: false };
  }
}
