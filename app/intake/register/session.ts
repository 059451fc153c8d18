/**
 * Who may register the App: whoever opened the address from the terminal, once. Until then anybody who reaches the port
 * could make the App theirs.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';

export interface Gate {
  /** For the address that is printed in the terminal. */
  readonly token: string;
  /** The cookie of the browser that brought the token, the first time; null for any other text, and ever after. */
  redeem(token: string): string | null;
  isSession(cookie: string | undefined): boolean;
  /** A new `state` for one round trip to GitHub; the one before is void. */
  newState(): string;
  /** Whether this is the state of the round trip under way. It is void from then on. */
  takeState(state: string): boolean;
}

export function makeGate(): Gate {
  const token = secret();
  let session: string | null = null;
  let state: string | null = null;
  return {
    token,
    redeem(given) {
      if (session !== null || !same(given, token)) return null;
      session = secret();
      return session;
    },
    isSession: (cookie) => session !== null && cookie !== undefined && same(cookie, session),
    newState() {
      state = secret();
      return state;
    },
    takeState(given) {
      const fits = state !== null && same(given, state);
      if (fits) state = null;
      return fits;
    },
  };
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}

/** Compares in a time that does not tell where they differ. */
function same(given: string, known: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(known)];
  return one.length === other.length && timingSafeEqual(one, other);
}
