// When to try again, by which way, and how long to wait for the next step.

// A host that is restarted is back within seconds, while its viewers wait. So the first waits are short, this many
// times.
const SHORT_WAIT = 500;
const SHORT_WAITS = 12;
const LONGEST_WAIT = 10_000;

/**
 * Returns the milliseconds to wait after `attempts` failed attempts: none at first, then short waits for some seconds,
 * and then growing ones.
 *
 * `random` is from 0 to 1. It spreads out the viewers of a host that comes back.
 */
export function waitBefore(attempts, random) {
  if (attempts <= 0) return 0;
  const wait = Math.min(LONGEST_WAIT, SHORT_WAIT * 2 ** Math.max(0, attempts - SHORT_WAITS));
  return wait * (0.85 + 0.3 * random);
}

/**
 * The STUN and TURN servers that the host has told of. They come only after a direct connection has failed: most viewers
 * get the picture by that, and sooner, because it asks no server first.
 */
export class Relays {
  /** All servers: a list of `RTCIceServer`. */
  all = [];
  #areNeeded = false;

  /** Takes what the host has told: undefined if there are none. */
  told(servers) {
    this.all = Array.isArray(servers) ? servers : [];
  }

  /** The servers for a connection to the host that is made now. */
  get servers() {
    return this.#areNeeded ? this.all : [];
  }

  /** Has connections made by the servers from now on, because a direct one has failed. */
  need() {
    this.#areNeeded = true;
  }
}

/** A timeout for the next step. Only one step is awaited at a time. */
export class Timeout {
  #timer = null;

  /** Calls `otherwise` after `delay` milliseconds, unless `expect` or `stop` is called before. */
  expect(delay, otherwise) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(otherwise, delay);
  }

  stop() {
    clearTimeout(this.#timer);
  }
}

/** Successive attempts to get something. */
export class Attempts {
  #count = 0;
  #timer = null;
  #due = null;

  /** Whether another attempt is scheduled. */
  get isDue() {
    return this.#timer !== null;
  }

  /** Seconds until the next attempt; null if none is scheduled. */
  get dueIn() {
    return this.#due === null ? null : Math.max(0, Math.ceil((this.#due - performance.now()) / 1000));
  }

  /** Schedules `attempt` after a wait that grows with each failed attempt. */
  again(attempt) {
    this.stop();
    const wait = waitBefore(this.#count, Math.random());
    this.#count += 1;
    this.#due = performance.now() + wait;
    this.#timer = setTimeout(attempt, Math.max(wait, 100));
  }

  /** Records a success: the waits start over. */
  succeeded() {
    this.#count = 0;
  }

  /** Cancels the scheduled attempt. */
  stop() {
    clearTimeout(this.#timer);
    this.#timer = this.#due = null;
  }
}
