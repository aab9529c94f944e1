// The host's clock, estimated from questions and answers over the WebSocket; nothing here touches the page.

// Answers that are remembered.
const MOST_ANSWERS = 16;
// By how much two clocks may drift apart: 50 millionths, in milliseconds a millisecond.
const DRIFT = 50e-6;

/**
 * How far the host's clock is ahead of ours. Each answer gives four stamps, as in NTP (RFC 5905 section 8); the one that was
 * under way for the shortest time says best. All times are in milliseconds.
 */
export class HostClock {
  #answers = [];

  /** Takes an answer: asked and answered by our clock, received and sent by the host's. */
  add({ asked, received, sent, arrived }) {
    if (![asked, received, sent, arrived].every(Number.isFinite)) return;
    const roundTrip = arrived - asked - (sent - received);
    if (roundTrip < 0 || arrived < asked || sent < received) return;
    this.#answers.push({ roundTrip, arrived, offset: (received - asked + (sent - arrived)) / 2 });
    if (this.#answers.length > MOST_ANSWERS) this.#answers.shift();
  }

  /** What has to be added to our time to get the host's; null before the first answer. */
  get offset() {
    return this.#best?.offset ?? null;
  }

  /** By how much that may be wrong at most; null before the first answer. */
  get error() {
    return this.#best ? this.#best.roundTrip / 2 : null;
  }

  get #best() {
    const now = this.#answers.at(-1)?.arrived;
    const worth = ({ roundTrip, arrived }) => roundTrip / 2 + (now - arrived) * DRIFT;
    return this.#answers.reduce((best, one) => (best && worth(best) < worth(one) ? best : one), null);
  }
}
