/** From a request to a delivery: what its headers and its signature must be. */
import type { IncomingHttpHeaders } from 'node:http';
import { Webhooks } from '@octokit/webhooks';
import type { Delivery } from '../../lanes/index.ts';
import { maxBodyBytes } from './body.ts';

/** Why a request is not taken, for the one who sent it. */
export interface Refusal {
  readonly status: 400 | 401 | 413 | 415;
  readonly message: string;
}

export interface DeliveryHead {
  readonly guid: string;
  readonly event: string;
  readonly signature: string;
}

const guidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Judges a request by its headers alone, before any of its body is read. */
export function readHead(headers: IncomingHttpHeaders): DeliveryHead | Refusal {
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    return { status: 415, message: 'Send application/json: set the content type of the webhook so.' };
  }
  const guid = header(headers, 'x-github-delivery');
  if (!guidShape.test(guid)) return { status: 400, message: 'X-GitHub-Delivery must be a GUID.' };
  const event = header(headers, 'x-github-event');
  if (!/^[a-z_]{1,100}$/.test(event)) return { status: 400, message: 'X-GitHub-Event must name an event.' };
  const signature = header(headers, 'x-hub-signature-256');
  if (signature === '')
    return { status: 401, message: 'X-Hub-Signature-256 is missing: set a webhook secret.' };
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) return tooLarge;
  return { guid, event, signature };
}

export const tooLarge: Refusal = { status: 413, message: `A payload has at most ${maxBodyBytes} bytes.` };

function header(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

export type SignatureCheck = (head: DeliveryHead, bytes: Buffer) => Promise<string | Refusal>;

/**
 * Checks a body against its signature and returns its text. The signature is over bytes: what is no UTF-8 is refused,
 * for its text would not be what was signed.
 */
export function makeSignatureCheck(secret: string): SignatureCheck {
  const webhooks = new Webhooks({ secret });
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return async (head, bytes) => {
    if (bytes.length === 0) return { status: 400, message: 'The body is empty.' };
    let text: string;
    try {
      text = decoder.decode(bytes);
    } catch {
      return { status: 400, message: 'The body is not UTF-8 text.' };
    }
    const good = await webhooks.verify(text, head.signature);
    return good
      ? text
      : { status: 401, message: 'The signature does not fit: check the webhook secret on both sides.' };
  };
}

/** The record of a delivery whose signature fits. */
export function makeDelivery(head: DeliveryHead, payload: string, receivedAtMs: number): Delivery {
  return { guid: head.guid.toLowerCase(), event: head.event, payload, receivedAtMs };
}
