// Limits the rate of messages in the meeting to what the host accepts.

// The host closes the socket of a client that sends more than 50 messages a second on average or 100 at once, and the
// page also sends other messages. A member that joins a large meeting has an offer and candidates for each of the
// others.
const BURST = 50;
const INTERVAL = 40;

/** Passes messages on to `send(eventName, data)`: a burst at once, and the rest one by one. */
export class Pace {
  #send;
  #queue = [];
  #allowed = BURST;
  #counted = performance.now();
  #timer = null;

  constructor(send) {
    this.#send = send;
  }

  say(eventName, data) {
    this.#queue.push([eventName, data]);
    this.#run();
  }

  /** Drops the messages that are still queued. */
  clear() {
    this.#queue = [];
  }

  #run() {
    const now = performance.now();
    this.#allowed = Math.min(BURST, this.#allowed + (now - this.#counted) / INTERVAL);
    this.#counted = now;
    while (this.#queue.length > 0 && this.#allowed >= 1) {
      this.#allowed -= 1;
      this.#send(...this.#queue.shift());
    }
    if (this.#queue.length === 0 || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#run();
    }, INTERVAL);
  }
}
