// Plays pictures by Media Source, where there is no WebCodecs: on pages of plain HTTP.

import { nalUnits, readSPS, sorted } from "./annexb.js";
import { initSegment, join, mediaSegment, TIMESCALE } from "./mp4.js";

// A picture lasts until the next one, which comes within 2.5 s: a browser that had played all there is would stop. A
// longer pause than twice the last duration would be a gap (Media Source Extensions, "coded frame processing").
//
// Firefox keeps each decoded picture until its end, and decodes only ten ahead. With 3 s, each would be shown 2.7 s late.
// It may stop after a short one, but when it goes on, it decodes all since the last key picture again.
const isFirefox = /\bFirefox\//.test(navigator.userAgent);
const DURATION = (isFirefox ? 0.3 : 3) * TIMESCALE;
// If there are more pictures since then, another key picture is asked for at rest.
const MOST_AGAIN = isFirefox ? 60 : Infinity;
// The least time between two pictures, so that they have different times.
const STEP = TIMESCALE / 1000;
// Chromium takes pictures at even distances for a stream of a fixed rate. Then it stops as soon as one was on the screen
// for so long and the next one isn't there, whatever its duration says, and shows few from then on. So every other
// picture gets an earlier time, by this share of its distance from the one before, and no more than this time.
const EARLIER = 0.7;
const MOST_EARLIER = 0.05 * TIMESCALE;
// Seconds behind the newest picture: from when on the page plays faster, and from when on it jumps to a key picture.
const TOLERATED = 0.03;
const JUMP = 0.5;
const FASTEST = 4;
// Nothing since the last key picture can be removed. After this many bytes another one is asked for.
const MOST_BYTES = 24 << 20;
// More waiting pictures than this mean that the browser doesn't keep up.
const LONGEST_QUEUE = 2;
// Milliseconds after which a last picture should be on the screen.
const LATE = 250;
// More pictures than are on their way to the screen.
const MOST_TIMES = 256;

const type = (codec) => `video/mp4; codecs="${codec}"`;

/** Returns the kind of Media Source that this browser has; null if it can't play so. */
export function sourceSupport() {
  const Source = globalThis.ManagedMediaSource ?? globalThis.MediaSource;
  return Source?.isTypeSupported(type("avc1.42E01F")) ? Source : null;
}

/**
 * Makes fragmented MP4 of the pictures. Each gets the time at which the video plays when it comes, so that it is due at
 * once, and nothing can pile up.
 *
 * Handlers: onProgress() when the browser has taken pictures; onBroken() when it needs a key picture; onWish() when a
 * key picture would help, but what comes is played meanwhile.
 */
export class SourcePlayer {
  /** The source for the page's video. */
  stream;

  #video;
  #handlers;
  #buffer = null;
  #type = null;
  #sets = null;
  #sequence = 0;
  #last = -STEP;
  /** When the stream's last key picture is due, and how many bytes and pictures have come from it on. */
  #key = 0;
  #bytes = 0;
  #sinceKey = 0;
  /** When the oldest key picture that is kept is due. */
  #oldest = 0;
  #jump = null;
  /** The segments that wait for the browser: `{bytes, type}`. */
  #queue = [];
  #times = [];
  #shown = -1;
  #late = null;
  #isClosed = false;

  constructor(Source, video, handlers) {
    this.#video = video;
    this.#handlers = handlers;
    this.stream = new Source();
    // Without that, a ManagedMediaSource isn't played.
    if (Source !== globalThis.MediaSource) video.disableRemotePlayback = true;
    this.stream.addEventListener("sourceopen", () => this.#pump());
    document.addEventListener("visibilitychange", this.#follow);
  }

  /** Whether the video plays our source. */
  isIn(video) {
    return this.stream.readyState === "open" && video.srcObject === null;
  }

  /** The number of pictures decoded. */
  get decoded() {
    return this.isIn(this.#video) ? this.#video.getVideoPlaybackQuality?.().totalVideoFrames ?? this.#sequence : 0;
  }

  get isBehind() {
    return this.#queue.length > LONGEST_QUEUE;
  }

  /** Plays a picture. Returns false if it can't, and needs a key picture. */
  take({ unit, ...facts }) {
    const { sps, pps, picture: units } = sorted(nalUnits(unit));
    const { isKey } = facts;
    if (isKey && !this.#begin(sps, pps)) return false;
    if (this.#sets === null || units.length === 0) return false;
    const now = this.#now * TIMESCALE;
    const early = this.#sequence % 2 === 0 ? 0 : Math.min(MOST_EARLIER, EARLIER * (now - this.#last));
    const time = Math.max(this.#last + STEP, Math.round(now - early));
    if (isKey) {
      // The first one has nothing to jump over.
      if (this.#sequence > 0 && time / TIMESCALE - this.#now > JUMP) this.#jump = time;
      this.#key = time;
      this.#bytes = 0;
      this.#sinceKey = 0;
    }
    this.#last = time;
    this.#sequence += 1;
    this.#bytes += unit.length;
    this.#sinceKey += 1;
    this.#times.push({ time, facts });
    if (this.#times.length > MOST_TIMES) this.#times.shift();
    const segment = { sequence: this.#sequence, time, duration: DURATION, units, isKey };
    this.#queue.push({ bytes: mediaSegment(segment), type: this.#sets.type });
    this.#pump();
    if (this.#bytes > MOST_BYTES) this.#handlers.onWish();
    return true;
  }

  /** Returns what is known of the picture that is presented at `mediaTime` seconds; null if nothing. */
  presented(mediaTime) {
    this.#shown = Math.round(mediaTime * TIMESCALE);
    return this.#times.findLast(({ time }) => time <= this.#shown + STEP / 2)?.facts ?? null;
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#late);
    document.removeEventListener("visibilitychange", this.#follow);
    this.#queue = [];
    this.#video.playbackRate = 1;
  }

  /** The video's own time, in seconds; 0 until it plays our source. */
  get #now() {
    return this.isIn(this.#video) ? this.#video.currentTime : 0;
  }

  /** Takes the parameter sets of a key picture. Returns whether they can be played. */
  #begin(sps, pps) {
    if (sps.length === 0 || pps.length === 0) return false;
    const text = join([...sps, ...pps]).join();
    if (this.#sets?.text === text) return true;
    const facts = readSPS(sps[0]);
    if (!facts) return false;
    this.#sets = { text, type: type(facts.codec) };
    this.#queue.push({ bytes: initSegment(sps, pps, facts), type: this.#sets.type });
    return true;
  }

  /** Passes on what waits, as far as the browser can take it now. */
  #pump() {
    if (this.#isClosed || this.stream.readyState !== "open" || this.#buffer?.updating) return;
    const next = this.#queue[0];
    try {
      if (!next) return this.#tidy();
      if (!this.#buffer) {
        this.#buffer = this.stream.addSourceBuffer(next.type);
        this.#buffer.addEventListener("updateend", () => this.#updated());
      } else if (next.type !== this.#type) {
        this.#buffer.changeType(next.type);
      }
      this.#type = next.type;
      const count = this.#queue.findIndex((segment) => segment.type !== next.type);
      const segments = this.#queue.splice(0, count < 0 ? this.#queue.length : count);
      this.#buffer.appendBuffer(join(segments.map(({ bytes }) => bytes)));
    } catch {
      // The buffer is full, or the browser can't play this.
      this.#queue = [];
      this.#sets = null;
      if (this.stream.readyState === "open" && this.#buffer?.buffered.length > 0) this.#buffer.remove(0, Infinity);
      this.#handlers.onBroken();
    }
  }

  #updated() {
    if (this.#isClosed) return;
    if (this.#jump !== null) {
      this.#video.currentTime = this.#jump / TIMESCALE;
      this.#jump = null;
    }
    this.#follow();
    this.#handlers.onProgress();
    this.#pump();
    clearTimeout(this.#late);
    this.#late = setTimeout(() => this.#missed(), LATE);
  }

  /** Removes what is older than the last key picture, once that has been played. */
  #tidy() {
    if (!this.#buffer || this.#key <= this.#oldest || this.#now < this.#key / TIMESCALE + 1) return;
    this.#oldest = this.#key;
    // All before the next key picture goes, so the end must not be past this one.
    this.#buffer.remove(0, (this.#key - STEP / 2) / TIMESCALE);
  }

  /** Keeps close to the newest picture. */
  #follow = () => {
    // Picture in picture shows the pictures of a hidden page.
    const isUnseen = document.hidden && document.pictureInPictureElement !== this.#video;
    if (isUnseen || !this.isIn(this.#video)) return;
    const behind = this.#last / TIMESCALE - this.#now;
    const rate = behind > TOLERATED ? FASTEST : 1;
    if (this.#video.playbackRate !== rate) this.#video.playbackRate = rate;
    // To jump anywhere else, the browser would decode all that has come since the last key picture.
    if (behind > JUMP) this.#handlers.onWish();
  };

  /** Some browsers show a picture only when there is another one. On a still screen, a key picture shows the same. */
  #missed() {
    const newest = this.#times.at(-1);
    if (!newest) return;
    const isShown = !this.#video.requestVideoFrameCallback || this.#shown >= newest.time - STEP / 2;
    const helps = !isShown || this.#sinceKey > MOST_AGAIN;
    if (helps && !newest.facts.isKey && !document.hidden && !this.#video.paused) this.#handlers.onWish();
    this.#follow();
  }
}
