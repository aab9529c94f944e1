// Estimates the host's clock from requests and replies over the WebSocket. Nothing here accesses the page.

// The number of replies that are remembered.
const MOST_ANSWERS = 16;
// The largest drift between the two clocks: 50 parts per million, in milliseconds per millisecond.
const DRIFT = 50e-6;
// A clock that stands still while its machine sleeps is behind by more than this afterwards, in milliseconds.
const JUMP = 500;

/**
 * The offset of the host's clock from ours. Each reply gives four timestamps, as in NTP (RFC 5905 section 8). The reply
 * with the shortest round trip is the most accurate. All times are in milliseconds.
 */
export class HostClock {
  #answers = [];

  /** Adds a reply. `asked` and `arrived` are in our clock, `received` and `sent` in the host's. */
  add({ asked, received, sent, arrived }) {
    if (![asked, received, sent, arrived].every(Number.isFinite)) return;
    const roundTrip = arrived - asked - (sent - received);
    if (roundTrip < 0 || arrived < asked || sent < received) return;
    const offset = (received - asked + (sent - arrived)) / 2;
    // Each offset is right to half its round trip, unless a clock has stood still since.
    if (Math.abs(offset - this.offset) > roundTrip / 2 + this.error + JUMP) this.#answers = [];
    this.#answers.push({ roundTrip, arrived, offset });
    if (this.#answers.length > MOST_ANSWERS) this.#answers.shift();
  }

  /** The time to add to our clock to get the host's; null before the first reply. */
  get offset() {
    return this.#best?.offset ?? null;
  }

  /** The largest possible error of the offset; null before the first reply. */
  get error() {
    return this.#best ? this.#best.roundTrip / 2 : null;
  }

  get #best() {
    const now = this.#answers.at(-1)?.arrived;
    const worth = ({ roundTrip, arrived }) => roundTrip / 2 + (now - arrived) * DRIFT;
    return this.#answers.reduce((best, one) => (best && worth(best) < worth(one) ? best : one), null);
  }
}
