// Where sound that came over the WebSocket is made loud: its volume and its level.

import { playOnChosen } from "../choice/output.js";
import { RATE } from "./opus.js";

// In milliseconds. A browser that wants a click first doesn't begin.
const TIMEOUT = 3000;
// Seconds in which the volume follows, so that it doesn't crack.
const FADE = 0.01;

/** The sound's way out. Connect what plays to `input`. */
export class Speaker {
  /** At the rate of Opus, so that pieces join to the sample. */
  context = new AudioContext({ latencyHint: "interactive", sampleRate: RATE });
  input = this.context.createAnalyser();
  #gain = this.context.createGain();
  #last = new Float32Array(this.input.fftSize);
  #timer;
  #turn = () => playOnChosen(this.context);

  /** `onRefused()` is called if the browser doesn't play without a click. */
  constructor(volume, onRefused) {
    this.#gain.gain.value = volume;
    this.#turn();
    document.addEventListener("speakerchosen", this.#turn);
    this.input.connect(this.#gain).connect(this.context.destination);
    // A call, or another device, may stop it at any time.
    this.context.addEventListener("statechange", () => this.#resume());
    this.#resume();
    this.#timer = setTimeout(() => {
      if (!this.isRunning) onRefused();
    }, TIMEOUT);
  }

  /** Whether the context's time passes. */
  get isRunning() {
    return this.context.state === "running";
  }

  set volume(volume) {
    this.#gain.gain.setTargetAtTime(volume, this.context.currentTime, FADE);
  }

  /** How loud it is now, from 0 to 1, whatever the volume. */
  get level() {
    this.input.getFloatTimeDomainData(this.#last);
    return Math.min(1, this.#last.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0));
  }

  /** When the context's time `time`, in seconds, is heard, by `performance.now()`; NaN if that isn't known. */
  heardAt(time) {
    const { contextTime, performanceTime } = this.context.getOutputTimestamp?.() ?? {};
    return performanceTime > 0 ? performanceTime + (time - contextTime) * 1000 : NaN;
  }

  close() {
    clearTimeout(this.#timer);
    document.removeEventListener("speakerchosen", this.#turn);
    this.context.close().catch(() => {});
  }

  #resume() {
    if (!this.isRunning && this.context.state !== "closed") this.context.resume().catch(() => {});
  }
}
