// The messages of pictures and sound over the WebSocket, and their confirmation. Nothing here accesses the page.

const VERSION = 1;
const HEADER = 16;
const IS_KEY = 1;
const HAS_POINTER = 2;
const IS_SOUND = 4;
// Milliseconds between two confirmations, at least.
const INTERVAL = 20;

/**
 * Reads a message with a picture or with sound (`isSound`): its `number` in the stream, whether it is a key picture
 * (`isKey`), whether the pointer is drawn into it (`hasPointer`), when it was `captured`, in milliseconds since 1970 by the
 * host's clock, and its access unit in Annex B format, or packet of Opus (`unit`). Returns null if the message has another
 * form.
 */
export function readFrame(buffer) {
  if (buffer.byteLength <= HEADER) return null;
  const header = new DataView(buffer, 0, HEADER);
  if (header.getUint8(0) !== VERSION) return null;
  const flags = header.getUint8(1);
  return {
    isSound: (flags & IS_SOUND) !== 0,
    number: header.getUint32(4),
    isKey: (flags & IS_KEY) !== 0,
    hasPointer: (flags & HAS_POINTER) !== 0,
    captured: Number(header.getBigUint64(8)) / 1000,
    unit: new Uint8Array(buffer, HEADER),
  };
}

/** Whether the picture `number` is the one after `last`, modulo 2^32. */
export const isNext = (number, last) => number === (last + 1) >>> 0;

/**
 * Tells the host which pictures, or which packets of sound, have been received: each time, but not more often than once
 * in `interval` milliseconds.
 *
 * `send(number)` sends a confirmation. `now()` is the time in milliseconds, and `later(action, delay)` runs an action
 * after so many.
 */
export class Confirmations {
  #send;
  #now;
  #later;
  #interval;
  #newest = 0;
  #told = 0;
  #last = -Infinity;
  #isDue = false;

  constructor(
    send, now = () => performance.now(), later = (action, delay) => setTimeout(action, delay), interval = INTERVAL,
  ) {
    this.#send = send;
    this.#now = now;
    this.#later = later;
    this.#interval = interval;
  }

  /** Confirms the picture or packet `number` and all before it. */
  confirm(number) {
    this.#newest = number;
    this.#run();
  }

  /** Starts again, because numbers count from 1 again. */
  reset() {
    this.#newest = this.#told = 0;
  }

  #run() {
    if (this.#newest === this.#told) return;
    const rest = this.#last + this.#interval - this.#now();
    // A hidden page's timers are late, so a picture that comes after the interval doesn't wait for one.
    if (rest <= 0) {
      this.#last = this.#now();
      this.#told = this.#newest;
      this.#send(this.#newest);
    } else if (!this.#isDue) {
      this.#isDue = true;
      this.#later(() => {
        this.#isDue = false;
        this.#run();
      }, rest);
    }
  }
}
