// Sends where the user points and what the user draws: not more often than the host passes it on, and again while the
// pointer rests, so that the dot doesn't fade.

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
  /** What was drawn since the last message: `{path, end}`, with the place where it ends; null if nothing. */
  #drawn = null;
  #sent = null;
  #sentAt = -Infinity;
  #movedAt = -Infinity;
  #timer = null;

  /**
   * `send(place, path)` sends a place, an object, or that there is none any more: null; and what was drawn on the
   * place's track since the last message, which may be empty.
   */
  constructor(send, clock = browserClock) {
    this.#send = send;
    this.#clock = clock;
  }

  /**
   * The pointer is at `place` now, or beside all pictures: null. With a place, `path` is what the user has drawn on its
   * way there: places `[x, y]` of its track, and null where another line begins.
   */
  move(place, path = []) {
    if (place === null && this.#place === null) return;
    if (path.length > 0) {
      // A message is about one track.
      if (this.#drawn && this.#drawn.end.track !== place.track) this.#say();
      this.#drawn = { path: [...this.#drawn?.path ?? [], ...path], end: place };
    }
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
    if (this.#drawn !== null) this.#say();
    if (this.#sent !== null) this.#say();
  }

  #run() {
    this.#clock.cancel(this.#timer);
    const now = this.#clock.now();
    const wait = this.#sentAt + (this.#isNew ? INTERVAL : REPEATS_AFTER) - now;
    if (wait > 0) return this.#schedule(wait);
    const isOver = !this.#isNew && (this.#place === null || now - this.#movedAt >= REPEATS_FOR);
    if (isOver || (this.#place === null && this.#sent === null && this.#drawn === null)) return;
    this.#say();
    if (this.#isNew) this.#schedule(INTERVAL);
    else if (this.#place !== null) this.#schedule(REPEATS_AFTER);
  }

  #schedule(delay) {
    this.#timer = this.#clock.wait(() => this.#run(), delay);
  }

  #say() {
    const drawn = this.#drawn;
    // If the pointer has left the picture since, the end of the line is sent first.
    this.#isNew = drawn !== null && (this.#place === null || this.#place.track !== drawn.end.track);
    this.#drawn = null;
    this.#sentAt = this.#clock.now();
    this.#sent = this.#isNew ? drawn.end : this.#place;
    this.#send(this.#sent, drawn?.path ?? []);
  }
}
