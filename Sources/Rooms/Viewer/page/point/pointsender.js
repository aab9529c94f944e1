// Sends where the user points: not more often than the host passes it on, and again while the pointer rests, so that
// the dot doesn't fade.

// In milliseconds. The host passes on 40 messages per second.
const INTERVAL = 34;
const REPEATS_AFTER = 400;
const REPEATS_FOR = 10000;

const browserClock = {
  now: () => performance.now(),
  wait: (action, delay) => setTimeout(action, delay),
  cancel: (timer) => clearTimeout(timer),
};

export class PointSender {
  #send;
  #clock;
  #place = null;
  #isNew = false;
  #sent = null;
  #sentAt = -Infinity;
  #movedAt = -Infinity;
  #timer = null;

  /** `send(place)` sends a place, an object, or that there is none any more: null. */
  constructor(send, clock = browserClock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** The pointer is at `place` now, or beside all pictures: null. */
  move(place) {
    if (place === null && this.#place === null) return;
    this.#place = place;
    this.#isNew = true;
    this.#movedAt = this.#clock.now();
    this.#run();
  }

  /** The user no longer points, which is sent at once. */
  stop() {
    this.#clock.cancel(this.#timer);
    this.#place = null;
    this.#isNew = false;
    if (this.#sent !== null) this.#say();
  }

  #run() {
    this.#clock.cancel(this.#timer);
    const now = this.#clock.now();
    const wait = this.#sentAt + (this.#isNew ? INTERVAL : REPEATS_AFTER) - now;
    if (wait > 0) return this.#schedule(wait);
    const isOver = !this.#isNew && (this.#place === null || now - this.#movedAt >= REPEATS_FOR);
    if (isOver || (this.#place === null && this.#sent === null)) return;
    this.#say();
    if (this.#place !== null) this.#schedule(REPEATS_AFTER);
  }

  #schedule(delay) {
    this.#timer = this.#clock.wait(() => this.#run(), delay);
  }

  #say() {
    this.#isNew = false;
    this.#sentAt = this.#clock.now();
    this.#sent = this.#place;
    this.#send(this.#place);
  }
}
