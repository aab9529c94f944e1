// Notices that no new picture comes.

// A capture sends a picture at least every 2.5 s, even if nothing changes, and the host says so. These are the seconds
// of silence before it is reported; and, for other sources, the longest pause of one that does the same, and how long
// it must have done so before its silence means anything.
const SILENCE = 6;
const LONGEST_PAUSE = 3.5;
const STEADY = 4;

/** The time without a new picture, updated at intervals. */
export class Silence {
  #seconds = 0;
  #steady = 0;
  #newest = null;
  #knowsCapture = false;
  #time = null;

  /** Whole seconds; null if there is nothing to report. An application may send pictures as rarely as it likes. */
  get seconds() {
    return this.#seconds < SILENCE || this.#steady < STEADY ? null : Math.floor(this.#seconds);
  }

  /**
   * Updates the time from the number of pictures decoded up to `time`, in milliseconds. `captured` is when the last of
   * them was captured, if known. It tells new pictures from repeated ones: a browser without pictures asks for a key
   * frame, and is sent again what it has already shown. `isDue` tells whether new pictures were expected since the last
   * update, and `isSteady` whether the host says that the source is never silent.
   */
  look({ framesDecoded, captured, time }, isDue, isSteady = false) {
    this.#knowsCapture ||= captured !== null;
    const newest = this.#knowsCapture ? captured ?? this.#newest : framesDecoded;
    const isNew = this.#newest === null || newest > this.#newest;
    // A page that was asleep hasn't looked, so the pictures of that time are still to be counted.
    const passed = this.#time === null ? 0 : Math.min((time - this.#time) / 1000, 1);
    if (!isDue || (isNew && this.#seconds > LONGEST_PAUSE)) this.#steady = 0;
    else if (isNew) this.#steady += this.#seconds + passed;
    if (isSteady) this.#steady = STEADY;
    this.#seconds = isDue && !isNew ? this.#seconds + passed : 0;
    if (isNew) this.#newest = newest;
    this.#time = time;
  }
}
