// How loud a microphone is.

// The level at which the meter shows nothing, in decibels below the loudest.
const RANGE = 60;

/** Measures the level of a microphone while the meter is visible. The microphone is not played. */
export class LevelMeter {
  #onLevel;
  #track = null;
  #context = null;
  #frame = 0;

  /** `onLevel(level)` is called for each picture of the screen, with a level from 0 to 1. */
  constructor(onLevel) {
    this.#onLevel = onLevel;
  }

  /** Measures `track` from now on; with null, nothing. */
  watch(track) {
    if (track === this.#track) return;
    this.#track = track;
    cancelAnimationFrame(this.#frame);
    this.#context?.close().catch(() => {});
    this.#context = null;
    this.#onLevel(0);
    if (!track || typeof AudioContext !== "function") return;
    const analyser = this.#listen(track);
    if (!analyser) return;
    const samples = new Float32Array(analyser.fftSize);
    const draw = () => {
      analyser.getFloatTimeDomainData(samples);
      this.#onLevel(levelOf(samples));
      this.#frame = requestAnimationFrame(draw);
    };
    draw();
  }

  /** Returns null if the browser can't measure it, for example at another rate than the microphone's. */
  #listen(track) {
    try {
      this.#context = new AudioContext();
      const analyser = this.#context.createAnalyser();
      this.#context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
      return analyser;
    } catch {
      return null;
    }
  }
}

/** Returns the loudest of `samples`, from 0 (60 dB below the loudest possible, or less) to 1. */
export function levelOf(samples) {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return peak > 0 ? Math.min(1, Math.max(0, 1 + (20 * Math.log10(peak)) / RANGE)) : 0;
}
