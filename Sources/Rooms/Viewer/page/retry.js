// When to try again, and for how long to wait for the next step.

// A host that is started again is back within seconds, and finds its viewers waiting: so many short waits come first.
const SHORT_WAIT = 500;
const SHORT_WAITS = 12;
const LONGEST_WAIT = 10_000;

/**
 * Milliseconds to wait after `attempts` that showed nothing: none at first, for some seconds short ones, and then ones that grow.
 *
 * `random` is from 0 to 1, and spreads the viewers of a host that comes back.
 */
export function waitBefore(attempts, random) {
  if (attempts <= 0) return 0;
  const wait = Math.min(LONGEST_WAIT, SHORT_WAIT * 2 ** Math.max(0, attempts - SHORT_WAITS));
  return wait * (0.85 + 0.3 * random);
}

/** The next step, and what to do where it doesn't come: one step is waited for at a time. */
export class Patience {
  #timer = null;

  /** Calls `otherwise` after `delay` milliseconds, unless another step is expected or none any more by then. */
  expect(delay, otherwise) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(otherwise, delay);
  }

  stop() {
    clearTimeout(this.#timer);
  }
}

// A capture sends a picture at least every 2.5 s, also while nothing changes. Seconds without one that are told; the longest
// pause of a source that keeps to that; and how long it has to have kept to it before its silence means anything.
const SILENCE = 6;
const LONGEST_PAUSE = 3.5;
const STEADY = 4;

/** The time without a new picture, looked at now and then. */
export class Silence {
  #seconds = 0;
  #steady = 0;
  #newest = null;
  #knowsCapture = false;
  #time = null;

  /** Whole seconds; null while there is nothing to tell: an application may send pictures as seldom as it likes. */
  get seconds() {
    return this.#seconds < SILENCE || this.#steady < STEADY ? null : Math.floor(this.#seconds);
  }

  /**
   * So many pictures were decoded up to `time`, in milliseconds, the last of which was captured at `captured`, where that is known:
   * a browser without pictures asks for a key frame, and is sent once more what it has shown already. `isDue` says whether new
   * ones should have come since the last look.
   */
  look({ framesDecoded, captured, time }, isDue) {
    this.#knowsCapture ||= captured !== null;
    const newest = this.#knowsCapture ? captured ?? this.#newest : framesDecoded;
    const isNew = this.#newest === null || newest > this.#newest;
    // A page that was asleep has not looked: the pictures of that time are still to be counted.
    const passed = this.#time === null ? 0 : Math.min((time - this.#time) / 1000, 1);
    if (!isDue || (isNew && this.#seconds > LONGEST_PAUSE)) this.#steady = 0;
    else if (isNew) this.#steady += this.#seconds + passed;
    this.#seconds = isDue && !isNew ? this.#seconds + passed : 0;
    if (isNew) this.#newest = newest;
    this.#time = time;
  }
}

/** The attempts to get something, one after another. */
export class Attempts {
  #count = 0;
  #timer = null;
  #due = null;

  /** Whether an attempt will be made by itself. */
  get isDue() {
    return this.#timer !== null;
  }

  /** Seconds until the next attempt; null where none is due. */
  get dueIn() {
    return this.#due === null ? null : Math.max(0, Math.ceil((this.#due - performance.now()) / 1000));
  }

  /** Has `attempt` called after a while that grows with each that showed nothing. */
  again(attempt) {
    this.stop();
    const wait = waitBefore(this.#count, Math.random());
    this.#count += 1;
    this.#due = performance.now() + wait;
    this.#timer = setTimeout(attempt, Math.max(wait, 100));
  }

  /** What was wanted is there: the next attempts begin anew. */
  succeeded() {
    this.#count = 0;
  }

  /** Makes no attempt by itself any more. */
  stop() {
    clearTimeout(this.#timer);
    this.#timer = this.#due = null;
  }
}
