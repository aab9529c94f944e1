// When the page tries again to get to the host.

import { Reach } from "./reach.js";
import { Attempts, Timeout } from "./retry.js";

// In milliseconds: how long an attempt may take until the host lets us in.
const JOIN_TIMEOUT = 10_000;

/**
 * Has attempts to get to the host made, one after another: each after a wait, or as soon as the host can be reached.
 *
 * `attempt()` makes one, and tells of it by `begin`.
 */
export class Recovery {
  #attempt;
  #attempts = new Attempts();
  #timeout = new Timeout();
  #reach;

  constructor(attempt, reach = new Reach()) {
    this.#attempt = attempt;
    this.#reach = reach;
  }

  /** Whether another attempt is scheduled. */
  get isDue() {
    return this.#attempts.isDue;
  }

  /** Seconds until the next attempt; null if none is scheduled. */
  get dueIn() {
    return this.#attempts.dueIn;
  }

  /** Schedules an attempt after a wait that grows with each failed one. */
  schedule() {
    this.#timeout.stop();
    this.#attempts.again(this.#attempt);
  }

  /** An attempt has begun. Calls `failed` if it takes too long, unless `answered` or `stop` is called before. */
  begin(failed) {
    this.#attempts.stop();
    this.#timeout.expect(JOIN_TIMEOUT, failed);
  }

  /** Has an attempt made as soon as the host can be reached, unless the last one `hasGotThrough()` to it by then. */
  awaitReach(hasGotThrough) {
    this.#reach.await(() => {
      if (this.isDue || !hasGotThrough()) this.#attempt();
    });
  }

  /** The host has let us in. */
  reached() {
    this.#reach.stop();
  }

  /** The host has told what there is to see: from now on the attempt may take any time. */
  answered() {
    this.#timeout.stop();
  }

  /** Records a success: the waits start over. */
  succeeded() {
    this.#attempts.succeeded();
  }

  /** Makes no attempt any more, and waits for none. */
  stop() {
    this.#reach.stop();
    this.#attempts.stop();
    this.#timeout.stop();
  }
}
