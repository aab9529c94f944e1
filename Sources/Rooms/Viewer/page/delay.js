// The delay from the shared screen to this one.

import { HostClock } from "./clock.js";

// Milliseconds between questions for the host's clock: at first some quick ones, then one now and then.
const QUICK = 250;
const QUICK_QUESTIONS = 6;
const SLOW = 10_000;
// NTP counts from 1900, the host's clock from 1970.
const SECONDS_TO_1970 = 2_208_988_800;
// The clock of video's RTP time stamps, in ticks a millisecond.
const RTP_RATE = 90;
// While nothing changes, capture sends a picture 2.5 s after the last one all the same; a little less, for rounding.
const KEEP_ALIVE = 2490;

/**
 * Measures from when a picture was captured, by the host's clock, until the browser has handed it on to this screen.
 *
 * A picture's RTP time stamp says when it was captured, as soon as one picture with abs-capture-time has told how the two belong
 * together. Where the browser doesn't hand that out, its own estimate (`captureTime`) is taken; else nothing is measured.
 *
 * A keep-alive shows nothing new, so it has no delay that anybody could notice, and is left out. Its time stamp tells it: capture
 * leaves more than 2.5 s between two pictures only if nothing has changed.
 */
export class Delay {
  #viewer;
  #video;
  #clock = new HostClock();
  #questions = 0;
  #timer = null;
  #stream = null;
  #since = 0;
  #anchor = null;
  #lastStamp = null;
  #taken = [];
  #latest = {};

  /** Whether this browser can tell the delay: false until one was measured. */
  isKnown = false;

  constructor(viewer, video) {
    this.#viewer = viewer;
    this.#video = video;
    viewer.addEventListener("joined", () => this.#joined());
    viewer.addEventListener("left", () => clearTimeout(this.#timer));
    viewer.addEventListener("_clock", ({ detail }) => this.#answered(detail));
    viewer.addEventListener("stream", ({ detail }) => this.#watch(detail));
  }

  /** The mean delay of the pictures since this was called last, in milliseconds; null where none showed anything new. */
  take() {
    const hasNew = this.#lookForAnchor();
    const taken = this.#taken.splice(0);
    return hasNew && taken.length > 0 ? taken.reduce((sum, one) => sum + one, 0) / taken.length : null;
  }

  /**
   * Of the last picture, in milliseconds: the delay by our own measure, by the browser's estimate, and the part of it since the
   * picture had arrived; what the browser doesn't tell is null. And by how much the host's clock is ahead, and how sure that is.
   */
  get state() {
    return Object.freeze({ ...this.#latest, clockOffset: this.#clock.offset, clockError: this.#clock.error });
  }

  #joined() {
    // It may be another host than before.
    this.#clock = new HostClock();
    this.#questions = 0;
    clearTimeout(this.#timer);
    this.#ask();
  }

  #ask() {
    this.#viewer.send("__clock", { t: performance.now() });
    this.#questions += 1;
    this.#timer = setTimeout(() => this.#ask(), this.#questions < QUICK_QUESTIONS ? QUICK : SLOW);
  }

  #answered({ t, received, sent }) {
    this.#clock.add({ asked: t, received: received / 1000, sent: sent / 1000, arrived: performance.now() });
  }

  #watch(stream) {
    this.#stream = stream;
    this.#since = performance.now();
    this.#anchor = null;
    this.#lastStamp = null;
    this.#taken = [];
    if (!this.#video.requestVideoFrameCallback) return;
    const look = (_, picture) => {
      if (this.#stream !== stream) return;
      this.#video.requestVideoFrameCallback(look);
      this.#shown(picture);
    };
    this.#video.requestVideoFrameCallback(look);
  }

  #shown({ presentationTime: shown, captureTime, receiveTime, rtpTimestamp }) {
    // expectedDisplayTime is no measure: where pictures are rare, Chromium puts it up to a picture's interval ahead or behind.
    const isKeepAlive = this.#isKeepAlive(rtpTimestamp);
    const own = this.#captureTime(rtpTimestamp);
    const captured = own ?? captureTime;
    const since = (time) => (Number.isFinite(time) ? shown - time : null);
    this.#latest = { own: since(own), browsers: since(captureTime), sinceArrival: since(receiveTime) };
    // What was captured before we came has waited for us.
    if (!Number.isFinite(captured) || captured <= this.#since) return;
    this.isKnown = true;
    if (!isKeepAlive) this.#taken.push(Math.max(0, shown - captured));
  }

  /** Whether the picture with that time stamp has come only because it was time for one. */
  #isKeepAlive(rtp) {
    const before = this.#lastStamp;
    this.#lastStamp = rtp;
    return before !== null && ((rtp - before) | 0) >= KEEP_ALIVE * RTP_RATE;
  }

  /** When the picture with that time stamp was captured, by our clock; null where that isn't known. */
  #captureTime(rtp) {
    if (!this.#anchor || this.#clock.offset === null || !Number.isInteger(rtp)) return null;
    return this.#anchor.captured + ((rtp - this.#anchor.rtp) | 0) / RTP_RATE - this.#clock.offset;
  }

  /**
   * Looks how RTP time stamps and the host's clock belong together, as abs-capture-time says; whether the last picture is a new one,
   * or may be. A picture that is sent once more, to go on from, has the capture time but not the time stamp that it had before.
   */
  #lookForAnchor() {
    const [source] = this.#viewer.reception?.peer.synchronizationSources ?? [];
    if (!Number.isFinite(source?.captureTimestamp) || !Number.isInteger(source.rtpTimestamp)) return true;
    const captured = source.captureTimestamp - SECONDS_TO_1970 * 1000;
    if (this.#anchor && captured <= this.#anchor.captured) return false;
    this.#anchor = { rtp: source.rtpTimestamp, captured };
    return true;
  }
}
