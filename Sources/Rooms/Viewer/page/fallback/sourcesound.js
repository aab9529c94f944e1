// Plays sound by Media Source, where there is no WebCodecs: on pages of plain HTTP.
//
// It has an element of its own. In that of the pictures, these would have to wait for sound, also while there is none.

import { join, soundInitSegment, soundSegment } from "./mp4.js";
import { RATE, sampleCount } from "./opus.js";

const TYPE = 'audio/mp4; codecs="opus"';
// In milliseconds: a longer gap is a silence.
const GAP = 100;
// Seconds behind the newest sound: from when on it plays faster, from when on it jumps, and to where. Browsers begin
// with some 0.2 in advance.
const TOLERATED = 0.4;
const JUMP = 1;
const TARGET = 0.25;
const FASTER = 1.05;
// Seconds of sound that is kept once it has been played, at most and at least.
const MOST_KEPT = 60;
const LEAST_KEPT = 10;
// More packets than wait while the browser begins.
const LONGEST_QUEUE = 100;
// More packets than are between the newest one and what is heard.
const MOST_TIMES = 500;

/** Returns the kind of Media Source that this browser has; null if it can't play so. */
export function soundSourceSupport() {
  const Source = globalThis.ManagedMediaSource ?? globalThis.MediaSource;
  return typeof AudioContext === "function" && Source?.isTypeSupported(TYPE) ? Source : null;
}

/** Makes fragmented MP4 of the packets, one behind the other. After a silence it starts again, with the newest. */
export class SourceSound {
  #audio = new Audio();
  #speaker;
  #node;
  #source;
  #address;
  #buffer = null;
  /** What waits for the browser. */
  #queue = [soundInitSegment()];
  #sequence = 0;
  /** The end of the sound, in samples. */
  #end = 0;
  /** When the packet after the last one should have been captured, if there is no silence. */
  #next = NaN;
  #times = [];
  #jump = null;
  #oldest = 0;

  /** `onRefused()` is called if the browser doesn't play without a click. */
  constructor(Source, speaker, onRefused) {
    this.#speaker = speaker;
    this.#source = new Source();
    // Without that, a ManagedMediaSource isn't played.
    if (Source !== globalThis.MediaSource) this.#audio.disableRemotePlayback = true;
    this.#source.addEventListener("sourceopen", () => this.#pump());
    this.#address = URL.createObjectURL(this.#source);
    this.#audio.src = this.#address;
    this.#node = speaker.context.createMediaElementSource(this.#audio);
    this.#node.connect(speaker.input);
    this.#audio.play().catch((problem) => {
      if (problem.name === "NotAllowedError") onRefused();
    });
  }

  /** Whether the browser has given up, as after sound that can't be decoded. It then plays nothing more. */
  get isBroken() {
    return this.#audio.error !== null;
  }

  /** How many milliseconds later than its capture, by the host's clock, a sound is heard, by ours; NaN if unknown. */
  get delay() {
    if (this.#audio.readyState < HTMLMediaElement.HAVE_FUTURE_DATA) return NaN;
    const now = this.#audio.currentTime * RATE;
    const heard = this.#times.findLast(({ time }) => time <= now);
    if (!heard) return NaN;
    const { context } = this.#speaker;
    return this.#speaker.heardAt(context.currentTime) - heard.captured - ((now - heard.time) * 1000) / RATE;
  }

  /** Plays the packet `unit`. */
  take({ unit, captured }) {
    const count = sampleCount(unit);
    if (count === 0 || this.#queue.length > LONGEST_QUEUE) return;
    if (Math.abs(captured - this.#next) > GAP) this.#jump = this.#end;
    this.#next = captured + (count * 1000) / RATE;
    this.#times.push({ time: this.#end, captured });
    if (this.#times.length > MOST_TIMES) this.#times.shift();
    this.#sequence += 1;
    this.#queue.push(soundSegment({ sequence: this.#sequence, time: this.#end, duration: count, packet: unit }));
    this.#end += count;
    this.#pump();
  }

  close() {
    this.#queue = [];
    this.#node.disconnect();
    this.#audio.pause();
    URL.revokeObjectURL(this.#address);
    this.#audio.removeAttribute("src");
    this.#audio.load();
  }

  /** Passes on what waits, if the browser can take it now. */
  #pump() {
    if (this.#source.readyState !== "open" || this.#buffer?.updating || this.#queue.length === 0) return;
    try {
      if (!this.#buffer) {
        this.#buffer = this.#source.addSourceBuffer(TYPE);
        this.#buffer.addEventListener("updateend", () => this.#updated());
      }
      this.#buffer.appendBuffer(join(this.#queue.splice(0)));
    } catch {
      // The browser can't play it. The pictures go on.
      this.#queue = [];
    }
  }

  /** Keeps close to the newest sound, and removes what is old. */
  #updated() {
    const audio = this.#audio;
    if (this.#source.readyState !== "open") return;
    const behind = this.#end / RATE - audio.currentTime;
    if (this.#jump !== null) {
      audio.currentTime = this.#jump / RATE;
      this.#jump = null;
    } else if (behind > JUMP && !audio.seeking) {
      audio.currentTime = this.#end / RATE - TARGET;
    }
    const rate = behind > TOLERATED ? FASTER : 1;
    if (audio.playbackRate !== rate) audio.playbackRate = rate;
    if (audio.currentTime - this.#oldest > MOST_KEPT) {
      this.#oldest = audio.currentTime - LEAST_KEPT;
      this.#buffer.remove(0, this.#oldest);
    } else {
      this.#pump();
    }
  }
}
