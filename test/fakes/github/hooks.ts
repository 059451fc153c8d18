/**
 * Webhook deliveries: signed, queued in order for each App, logged, and sent again on request.
 *
 * GitHub waits 10 s for a 2xx and never sends again by itself; a redelivery keeps the GUID. Faults are off unless a
 * test asks for them.
 */
import { createHmac } from 'node:crypto';
import type { AppRecord } from './apps.ts';
import type { JsonObject } from './call.ts';
import { numberAt, Refusal, textAt } from './call.ts';
import { WebhookFaults } from './webhookfaults.ts';

export interface Delivery {
  id: number;
  guid: string;
  app: AppRecord;
  event: string;
  action: string | null;
  redelivery: boolean;
  url: string;
  headers: Record<string, string>;
  payload: string;
  installationId: number;
  repositoryId: number;
  deliveredAtMs: number;
  durationMs: number;
  /** 0 until there is an answer. */
  statusCode: number;
  status: string;
  response: string;
}

const answerWithinMs = 10_000;
const keptDeliveries = 2_000;
const keptResponseChars = 10_000;

export interface HookTools {
  now: () => number;
  guid: () => string;
}

export class Hooks {
  readonly log: Delivery[] = [];
  readonly #tools: HookTools;
  readonly faults = new WebhookFaults();
  readonly #lines = new Map<AppRecord, Promise<void>>();
  readonly #held = new Map<AppRecord, Delivery[]>();
  readonly #late = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #nextId = 1_000_001;

  constructor(tools: HookTools) {
    this.#tools = tools;
  }

  /** Queues one event for an App; an App without a hook URL gets nothing. */
  emit(app: AppRecord, event: string, payload: JsonObject): void {
    if (app.hookUrl === null) return;
    const delivery = this.#compose(app, app.hookUrl, event, payload);
    const fault = this.faults.take(event, delivery.action);
    if (fault?.kind === 'drop') return;
    if (fault?.kind === 'reorder') {
      this.#held.set(app, [...(this.#held.get(app) ?? []), delivery]);
      return;
    }
    if (fault?.kind === 'delay') {
      this.#track(this.#sleep(fault.delayMs ?? 500).then(() => this.#send(delivery)));
      return;
    }
    this.#enqueue(delivery);
    if (fault?.kind === 'double') this.#enqueue({ ...delivery, id: this.#nextId++ });
    this.#release(app);
  }

  /** Sends a logged delivery again with its GUID. Throws 404 for an id that is not the App's. */
  redeliver(app: AppRecord, id: number): void {
    const old = this.find(app, id);
    this.#enqueue({ ...old, id: this.#nextId++, redelivery: true, url: app.hookUrl ?? old.url });
  }

  find(app: AppRecord, id: number): Delivery {
    const found = this.log.find((one) => one.id === id && one.app === app);
    if (!found) throw new Refusal(404, 'Not Found');
    return found;
  }

  /** Waits until every queued delivery has been answered; what a fault holds back is sent now. */
  async settle(): Promise<void> {
    for (;;) {
      for (const app of this.#held.keys()) this.#release(app);
      const waiting = [...this.#lines.values(), ...this.#late];
      await Promise.all(waiting);
      if (this.#late.size === 0 && this.#held.size === 0 && sameLines(waiting, this.#lines)) return;
    }
  }

  /** Cuts off everything under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#held.clear();
    await Promise.all([...this.#lines.values(), ...this.#late]);
  }

  #compose(app: AppRecord, url: string, event: string, payload: JsonObject): Delivery {
    const text = JSON.stringify(payload);
    const guid = this.#tools.guid();
    return {
      id: this.#nextId++,
      guid,
      app,
      event,
      action: textAt(payload, 'action') || null,
      redelivery: false,
      url,
      headers: headersOf(app, event, guid, text),
      payload: text,
      installationId: numberAt(payload, 'installation', 'id'),
      repositoryId: numberAt(payload, 'repository', 'id'),
      deliveredAtMs: 0,
      durationMs: 0,
      statusCode: 0,
      status: 'pending',
      response: '',
    };
  }

  #release(app: AppRecord): void {
    const held = this.#held.get(app) ?? [];
    this.#held.delete(app);
    for (const delivery of held) this.#enqueue(delivery);
  }

  #enqueue(delivery: Delivery): void {
    const before = this.#lines.get(delivery.app) ?? Promise.resolve();
    this.#lines.set(
      delivery.app,
      before.then(() => this.#send(delivery)),
    );
  }

  #track(work: Promise<void>): void {
    this.#late.add(work);
    void work.finally(() => this.#late.delete(work));
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#closing.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #send(delivery: Delivery): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.log.push(delivery);
    if (this.log.length > keptDeliveries) this.log.shift();
    delivery.deliveredAtMs = this.#tools.now();
    const began = performance.now();
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(answerWithinMs)]);
    try {
      const { url, headers, payload: body } = delivery;
      const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
      delivery.response = (await answer.text()).slice(0, keptResponseChars);
      delivery.statusCode = answer.status;
      delivery.status = answer.ok ? 'OK' : `Invalid HTTP Response: ${answer.status}`;
    } catch (error) {
      const timedOut = error instanceof Error && error.name === 'TimeoutError';
      delivery.statusCode = timedOut ? 504 : 502;
      delivery.status = timedOut ? 'timed out' : 'failed to connect to host';
    }
    delivery.durationMs = performance.now() - began;
  }
}

function sameLines(waited: Promise<void>[], lines: Map<AppRecord, Promise<void>>): boolean {
  return [...lines.values()].every((line) => waited.includes(line));
}

/** Headers of docs.github.com, "Webhook events and payloads: delivery headers". */
function headersOf(app: AppRecord, event: string, guid: string, text: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: '*/*',
    'user-agent': 'GitHub-Hookshot/standin',
    'x-github-delivery': guid,
    'x-github-event': event,
    'x-github-hook-id': String(app.id),
    'x-github-hook-installation-target-id': String(app.id),
    'x-github-hook-installation-target-type': 'integration',
    'x-hub-signature-256': `sha256=${createHmac('sha256', app.webhookSecret).update(text).digest('hex')}`,
  };
}
