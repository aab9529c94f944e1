// Keeps pictures and sound of the same moment together.
//
// Pictures are shown as soon as they are there, since a shared screen is worked with. Sound takes the browser some 50 ms
// longer. While sound is heard, the host is asked to have the pictures held back by as much.

// Milliseconds: the most that pictures are held back, the steps in which that can be said, and a lag that nobody notices.
const MOST = 200;
const STEP = 10;
const TOLERATED = 8;
// By as much, sound is later than the browser says, or somewhat more.
const UNTOLD = 10;
// Sound that ends sooner, such as a notice, isn't worth it. Both are numbers of looks.
const LOOKS = 4;
const TIMEOUT = 6;

/** How long the pictures of one reception are to be held back. */
export class Together {
  /** In milliseconds. */
  delay = 0;

  #before = null;
  #lags = [];
  #silentLooks = 0;

  /**
   * Takes the browser's counters, twice a second, and whether the sound is heard. Returns whether `delay` is another one
   * now.
   */
  look(counted, isHeard) {
    const before = this.#before;
    this.#before = counted;
    const isFlowing = before !== null && counted !== null && counted.soundPackets > before.soundPackets;
    this.#silentLooks = isFlowing ? 0 : this.#silentLooks + 1;
    if (!isHeard || this.#silentLooks > TIMEOUT) {
      this.#lags = [];
      return this.#set(0);
    }
    // The lag is that of the last picture, so a screen that stands still says nothing of the delay that holds now.
    const isNew = isFlowing && counted.framesDecoded > before.framesDecoded;
    if (!isNew || !Number.isFinite(counted.soundLag)) return false;
    this.#lags.push(counted.soundLag + UNTOLD);
    if (this.#lags.length < LOOKS) return false;
    const lag = this.#lags.splice(0).sort((one, other) => one - other)[LOOKS / 2];
    return Math.abs(lag) > TOLERATED && this.#set(this.delay + lag);
  }

  #set(wanted) {
    const delay = Math.round(Math.max(0, Math.min(MOST, wanted)) / STEP) * STEP;
    if (delay === this.delay) return false;
    this.delay = delay;
    return true;
  }
}
