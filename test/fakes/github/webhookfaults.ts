/**
 * Faults of webhook deliveries on demand; none unless a test asks.
 */

export interface WebhookFault {
  /** `issues`, or with its action `issues.labeled`. */
  event: string;
  /** Never sent nor logged; sent twice under one GUID; sent after the next one; sent late, others pass it. */
  kind: 'drop' | 'double' | 'reorder' | 'delay';
  /** How many deliveries it hits; default 1. */
  times?: number;
  /** For `delay`; default 500. */
  delayMs?: number;
}

export class WebhookFaults {
  readonly #active: Array<{ fault: WebhookFault; left: number }> = [];

  add(fault: WebhookFault): void {
    this.#active.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#active.length = 0;
  }

  /** The fault that hits this event, if any; it is used up by one. */
  take(event: string, action: string | null): WebhookFault | undefined {
    const names = [event, `${event}.${action}`];
    const found = this.#active.find((one) => one.left > 0 && names.includes(one.fault.event));
    if (found) found.left--;
    return found?.fault;
  }
}
