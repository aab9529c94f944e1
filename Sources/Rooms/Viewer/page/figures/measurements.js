// Measurements of the stream, once a second, for the line in the bar and for the charts.

import { bitRateText, delayText, frameRateText, sizeText } from "./figures.js";
import { words } from "../words/messages.js";
import { median, Series } from "./series.js";

// The current delay is the median over this number of seconds.
export const DELAY_WINDOW = 3;
// At most this many pictures in this many seconds mean that nothing moves on the screen.
const STILL_SECONDS = 3;
const STILL_PICTURES = 2;
const EVERY = 900;
// After this many samples without one, the delay can't be measured: even a still screen has had keep-alive pictures.
const DELAY_TIMEOUT = 8;
// The number of samples to skip after the first picture: pictures that were queued before we joined would distort them.
const LOOKS_BEFORE = 2;

export class Measurements {
  /**
   * One value per second; delay, round trip and the sound's lag behind the picture in milliseconds, loss in percent,
   * bit rate in bits per second.
   */
  delay = new Series();
  roundTrip = new Series();
  frameRate = new Series();
  bitRate = new Series();
  loss = new Series();
  soundLag = new Series();

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

  /** Whether the browser can measure the delay. If not, the network's round trip is shown instead. */
  get knowsDelay() {
    return this.#meter.isKnown;
  }

  get hasSound() {
    return this.#viewer.sound !== "none";
  }

  /** Whether the delay isn't known yet, but may be soon. */
  get awaitsDelay() {
    return !this.knowsDelay && this.roundTrip.length < DELAY_TIMEOUT;
  }

  /** The texts such as "42 ms", "30 fps", "1.2 Mbit/s" and "1920 × 1080"; empty if there is nothing to show. */
  get line() {
    return this.#isLive ? this.#parts : [];
  }

  /** Whether nothing moves on the shared screen. */
  get isStill() {
    const rates = this.frameRate.last(STILL_SECONDS);
    const isRare = rates.length === STILL_SECONDS && rates.reduce((sum, rate) => sum + rate, 0) <= STILL_PICTURES;
    return isRare && this.delay.last(STILL_SECONDS).length === 0;
  }

  /** Samples the browser's counters. Returns whether there is a new value. */
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
    // A browser without pictures asks for a key frame, and is sent again what it has already shown.
    const isRepeated = Number.isFinite(before.captured) && now.captured <= before.captured;
    this.frameRate.push(isRepeated ? 0 : Math.max(0, now.framesDecoded - before.framesDecoded) / seconds);
    this.bitRate.push((Math.max(0, now.bytes - before.bytes) * 8) / seconds);
    this.loss.push(arrived + lost > 0 ? (100 * lost) / (arrived + lost) : 0);
    // In a silence no sound arrives.
    this.soundLag.push(now.soundPackets > before.soundPackets ? now.soundLag : null);
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
