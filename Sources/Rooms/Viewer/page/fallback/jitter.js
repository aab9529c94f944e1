// When to play sound that arrives irregularly. Nothing here accesses the page.

import { RATE } from "./opus.js";

const samples = (milliseconds) => (milliseconds * RATE) / 1000;

// How long sound waits at first, and how long the latest of the last seconds should have waited, at least and at most.
const START = samples(60);
const LEAST = samples(20);
const MOST = samples(80);
// A piece that would wait for longer belongs to another time, such as that before the device was changed.
const FARTHEST = samples(500);
// After so long a time in which all is late, the path has become longer.
const TIMEOUT = samples(100);
// If all pieces that are looked at have waited for longer, the path has become shorter, and some sound is skipped.
const TOO_LONG = samples(200);
// A piece that would begin so close to the end of the one before, or within half its own length, follows it without a
// gap.
const JOINT = samples(5);
// How many pieces are looked at: three seconds.
const WINDOW = 150;
// By this part of its length a piece is made longer or shorter. Nobody hears that.
const STRETCH = 0.005;

/**
 * Says when each piece of decoded sound is to be played, so that it follows the one before although they come
 * irregularly.
 *
 * A piece is played at its capture time plus an offset, which changes slowly as the arrivals say: with the path, and as
 * the clocks of the host and of this device drift apart. What comes too late is left out; the sound doesn't fall
 * behind. Only a path that becomes much longer or shorter moves the offset at once.
 */
export class JitterBuffer {
  /** What a capture time is to be shifted by; null before the first piece. */
  #offset = null;
  /** When the last piece ends; -Infinity before the first. */
  #end = -Infinity;
  /** How long after their captures the last pieces came, on two clocks. */
  #arrivals = [];
  #lateSince = null;

  /**
   * Places a piece of `count` samples that was `captured` at that time, in milliseconds by the host's clock, and has
   * come at `now`, in samples of this device's clock. Returns when it begins, on the same clock, and how many samples
   * to make of it; null if it is to be left out.
   */
  place(captured, count, now) {
    const taken = samples(captured);
    this.#arrivals.push(now - taken);
    if (this.#arrivals.length > WINDOW) this.#arrivals.shift();
    const wait = this.#offset === null ? FARTHEST + 1 : taken + this.#offset - now;
    if (wait >= 0) this.#lateSince = null;
    else if (now - (this.#lateSince ??= now) < TIMEOUT) return null;
    if (wait < 0 || wait > FARTHEST) {
      this.#offset = now + START - taken;
      this.#arrivals = [now - taken];
      this.#lateSince = null;
    }
    let least = this.#offset - Math.max(...this.#arrivals);
    if (least > TOO_LONG && this.#arrivals.length === WINDOW) {
      this.#offset -= least - START;
      least = START;
    }
    const due = Math.round(taken + this.#offset);
    const isJoined = Math.abs(due - this.#end) <= Math.max(JOINT, count / 2);
    const at = isJoined ? Math.max(this.#end, Math.ceil(now)) : due;
    // What was placed by another offset is still to be played.
    if (at < this.#end) return null;
    const change = Math.ceil(count * STRETCH) * (least < LEAST ? 1 : least > MOST ? -1 : 0);
    this.#offset += change;
    this.#end = at + count + change;
    return { at, count: count + change };
  }
}

/** Makes `count` samples of those of one channel. */
export function stretched(channel, count) {
  if (channel.length === count) return channel;
  const step = channel.length / count;
  return Float32Array.from({ length: count }, (_, index) => {
    const before = Math.floor(index * step);
    const part = index * step - before;
    return channel[before] * (1 - part) + channel[Math.min(before + 1, channel.length - 1)] * part;
  });
}
