// The delay from the shared screen to this one.

import { HostClock } from "../picture/clock.js";
import { median } from "./series.js";

// Milliseconds between requests for the host's clock: at first a few in quick succession, then one at long intervals.
const QUICK = 250;
const QUICK_QUESTIONS = 6;
const SLOW = 5000;
// NTP counts from 1900, and the host's clock from 1970.
const SECONDS_TO_1970 = 2_208_988_800;
// The clock rate of video's RTP timestamps, in ticks per millisecond.
const RTP_RATE = 90;
// Even if nothing changes, the capture sends a picture 2.5 s after the last one. This is a little less, to allow for
// rounding.
const KEEP_ALIVE = 2490;
// Milliseconds from when Chromium presents a picture to its compositor until the screen shows it: 10 to 12 by the pixels
// of a screen with 60 Hz, whatever moves. The browser doesn't tell it for each picture.
const COMPOSITION = 10;

/**
 * Measures the time from a change of the shared screen until this one shows it. Most of it is the time from the capture
 * of a picture, by the host's clock, until the browser presents it. To this, it adds how long changes wait for their
 * capture, which the host tells with its clock, and how long the browser takes to compose what it shows.
 *
 * A picture's RTP timestamp tells when it was captured, once a picture with abs-capture-time has shown how the two
 * clocks relate. If the browser doesn't expose that, its own estimate (`captureTime`) is used. Otherwise nothing is
 * measured.
 *
 * A keep-alive picture shows nothing new, so nobody can notice its delay, and it is left out. It is recognized by its
 * timestamp: the capture leaves more than 2.5 s between two pictures only if nothing has changed.
 */
export class Delay {
  #viewer;
  #video;
  #clock = new HostClock();
  #waited = 0;
  #questions = 0;
  #timer = null;
  #stream = null;
  #awaited = 0;
  #since = 0;
  #anchor = null;
  #lastStamp = null;
  #taken = [];
  #latest = {};

  /** Whether this browser can measure the delay; false until it has been measured once. */
  isKnown = false;

  constructor(viewer, video) {
    this.#viewer = viewer;
    this.#video = video;
    viewer.addEventListener("joined", () => this.#joined());
    viewer.addEventListener("left", () => clearTimeout(this.#timer));
    viewer.addEventListener("_clock", ({ detail }) => this.#answered(detail));
    viewer.addEventListener("stream", ({ detail }) => this.#watch(detail));
    viewer.addEventListener("presented", ({ detail }) => this.#presented(detail));
  }

  /** Returns the median delay of the pictures since the last call, in milliseconds; null if none showed anything new. */
  take() {
    const hasNew = this.#lookForAnchor();
    const delay = median(this.#taken.splice(0));
    return hasNew && delay !== null ? this.#waited + delay + COMPOSITION : null;
  }

  /**
   * For the last picture, in milliseconds: the time from its capture until it was presented as we measure it, the
   * browser's estimate, and the part of it after the picture arrived. Values that the browser doesn't provide are null.
   * Also how long changes wait for their capture, the offset of the host's clock, and its error.
   */
  get state() {
    return Object.freeze({
      ...this.#latest, waited: this.#waited, clockOffset: this.#clock.offset, clockError: this.#clock.error,
    });
  }

  #joined() {
    // It may be a different host than before.
    this.#clock = new HostClock();
    this.#waited = 0;
    this.#questions = 0;
    clearTimeout(this.#timer);
    this.#ask();
  }

  #ask() {
    this.#viewer.send("__clock", { t: performance.now() });
    this.#questions += 1;
    this.#timer = setTimeout(() => this.#ask(), this.#questions < QUICK_QUESTIONS ? QUICK : SLOW);
  }

  #answered({ t, received, sent, waited }) {
    this.#waited = Number.isFinite(waited) ? Math.max(0, waited / 1000) : 0;
    this.#clock.add({ asked: t, received: received / 1000, sent: sent / 1000, arrived: performance.now() });
  }

  #watch(stream) {
    this.#stream = stream;
    this.#since = performance.now();
    this.#anchor = null;
    this.#lastStamp = null;
    this.#taken = [];
    if (!this.#video.requestVideoFrameCallback) return;
    this.#video.cancelVideoFrameCallback(this.#awaited);
    const look = (_, picture) => {
      if (this.#stream !== stream) return;
      this.#awaited = this.#video.requestVideoFrameCallback(look);
      this.#shown(picture);
    };
    this.#awaited = this.#video.requestVideoFrameCallback(look);
  }

  /** Handles a picture that has come over the WebSocket, with its own capture time. */
  #presented({ captured, arrived, shown }) {
    if (this.#clock.offset === null || captured <= this.#lastStamp) return;
    const isKeepAlive = this.#lastStamp !== null && captured - this.#lastStamp >= KEEP_ALIVE;
    this.#lastStamp = captured;
    this.#add(shown, captured - this.#clock.offset, isKeepAlive);
    this.#latest = { own: shown - captured + this.#clock.offset, browsers: null, sinceArrival: shown - arrived };
  }

  #shown({ presentationTime: shown, captureTime, receiveTime, rtpTimestamp }) {
    if (this.#viewer.reception?.isByWebSocket) return;
    // expectedDisplayTime isn't usable: if pictures are rare, Chromium sets it up to a picture interval too early or
    // too late.
    const isKeepAlive = this.#isKeepAlive(rtpTimestamp);
    const own = this.#captureTime(rtpTimestamp);
    const captured = own ?? captureTime;
    const since = (time) => (Number.isFinite(time) ? shown - time : null);
    this.#latest = { own: since(own), browsers: since(captureTime), sinceArrival: since(receiveTime) };
    this.#add(shown, captured, isKeepAlive);
  }

  #add(shown, captured, isKeepAlive) {
    // A picture captured before we joined had to wait for us.
    if (!Number.isFinite(shown - captured) || captured <= this.#since) return;
    this.isKnown = true;
    if (!isKeepAlive) this.#taken.push(Math.max(0, shown - captured));
  }

  /** Whether the picture with that timestamp is a keep-alive. */
  #isKeepAlive(rtp) {
    const before = this.#lastStamp;
    this.#lastStamp = rtp;
    return before !== null && ((rtp - before) | 0) >= KEEP_ALIVE * RTP_RATE;
  }

  /** Returns when the picture with that timestamp was captured, in our clock; null if unknown. */
  #captureTime(rtp) {
    if (!this.#anchor || this.#clock.offset === null || !Number.isInteger(rtp)) return null;
    return this.#anchor.captured + ((rtp - this.#anchor.rtp) | 0) / RTP_RATE - this.#clock.offset;
  }

  /**
   * Determines how RTP timestamps and the host's clock relate, from abs-capture-time. Returns whether the last picture
   * is new, or may be. A picture that is sent again as a fresh start keeps its capture time but gets a new timestamp.
   */
  #lookForAnchor() {
    const [source] = this.#viewer.reception?.peer?.synchronizationSources ?? [];
    if (!Number.isFinite(source?.captureTimestamp) || !Number.isInteger(source.rtpTimestamp)) return true;
    const captured = source.captureTimestamp - SECONDS_TO_1970 * 1000;
    if (this.#anchor && captured <= this.#anchor.captured) return false;
    this.#anchor = { rtp: source.rtpTimestamp, captured };
    return true;
  }
}
