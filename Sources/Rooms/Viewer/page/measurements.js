// What is measured of the picture, once a second: for the line in the bar, and for the charts.

import { bitRateText, delayText, frameRateText, sizeText } from "./figures.js";
import { words } from "./messages.js";
import { median, Series } from "./series.js";

// Seconds over which the delay of the present is the middle one.
export const DELAY_WINDOW = 3;
// So few pictures in so many seconds are those that a screen sends on which nothing moves.
const STILL_SECONDS = 3;
const STILL_PICTURES = 2;
const EVERY = 900;
// So many looks after the first picture: what had waited for us until then says nothing of the present.
const LOOKS_BEFORE = 2;

export class Measurements {
  /** Values a second; delay and round trip in milliseconds, loss in percent, bit rate in bits. */
  delay = new Series();
  roundTrip = new Series();
  frameRate = new Series();
  bitRate = new Series();
  loss = new Series();

  #viewer;
  #stage;
  #meter;
  #before = null;
  #looks = 0;
  #parts = [];

  /** `meter` measures the delay. */
  constructor(viewer, stage, meter) {
    this.#viewer = viewer;
    this.#stage = stage;
    this.#meter = meter;
    viewer.addEventListener("stream", () => this.#forget());
  }

  /** Whether the browser can tell the delay; else the network's round trip stands in for it. */
  get knowsDelay() {
    return this.#meter.isKnown;
  }

  /** "42 ms", "30 fps", "1.2 Mbit/s", "1920 × 1080"; none where there is nothing to tell. */
  get line() {
    return this.#isLive ? this.#parts : [];
  }

  /** Whether nothing moves on the shared screen. */
  get isStill() {
    const rates = this.frameRate.last(STILL_SECONDS);
    const isRare = rates.length === STILL_SECONDS && rates.reduce((sum, rate) => sum + rate, 0) <= STILL_PICTURES;
    return isRare && this.delay.last(STILL_SECONDS).length === 0;
  }

  /** Takes what the browser has counted; whether there is something new. */
  sample() {
    const now = this.#viewer.reception?.counted;
    if (!now || !this.#isLive) return this.#forget();
    if (++this.#looks <= LOOKS_BEFORE) return false;
    const before = this.#before;
    const seconds = before ? (now.time - before.time) / 1000 : 0;
    if (before && seconds < EVERY / 1000) return false;
    this.#before = now;
    if (!before) return false;
    const arrived = now.packets - before.packets;
    const lost = Math.max(0, now.lost - before.lost);
    this.delay.push(this.#meter.take());
    this.roundTrip.push(now.roundTrip);
    this.frameRate.push(Math.max(0, now.framesDecoded - before.framesDecoded) / seconds);
    this.bitRate.push((Math.max(0, now.bytes - before.bytes) * 8) / seconds);
    this.loss.push(arrived + lost > 0 ? (100 * lost) / (arrived + lost) : 0);
    this.#parts = this.#write();
    return true;
  }

  get #isLive() {
    return this.#viewer.phase === "playing" && this.#viewer.source.state === "live" && this.#viewer.silence === null;
  }

  #forget() {
    this.#before = null;
    this.#looks = 0;
    this.#parts = [];
    this.#meter.take();
    return false;
  }

  #write() {
    const size = this.#stage.pictureSize;
    const parts = this.isStill
      ? [words.nothingMoves]
      : [
          this.knowsDelay ? delayText(median(this.delay.last(DELAY_WINDOW))) : "",
          frameRateText(this.frameRate.ago(0)),
          bitRateText(this.bitRate.ago(0)),
        ];
    const loss = median(this.loss.last(DELAY_WINDOW)) ?? 0;
    if (loss >= 0.5) parts.push(words.lost(loss.toFixed(loss < 10 ? 1 : 0)));
    if (size.width > 0) parts.push(sizeText(size));
    return parts.filter(Boolean);
  }
}
