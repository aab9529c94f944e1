// The values of the last minute, and lines through them. Nothing here accesses the page.

/** The last `capacity` values; null stands for a value that wasn't measured. */
export class Series {
  #values = [];
  #capacity;

  constructor(capacity = 60) {
    this.#capacity = capacity;
  }

  push(value) {
    this.#values.push(Number.isFinite(value) ? value : null);
    if (this.#values.length > this.#capacity) this.#values.shift();
  }

  /** The number of values, those that weren't measured included. */
  get length() {
    return this.#values.length;
  }

  get capacity() {
    return this.#capacity;
  }

  /** The value `steps` before the last one; null if there is none. */
  ago(steps) {
    return this.#values.at(-1 - steps) ?? null;
  }

  /** The last `count` values, oldest first, without those that weren't measured. */
  last(count = this.#capacity) {
    return this.#values.slice(-count).filter((value) => value !== null);
  }

  /** `[least, most]`, or null if nothing was measured. */
  get range() {
    const values = this.last();
    return values.length > 0 ? [Math.min(...values), Math.max(...values)] : null;
  }

  /**
   * Returns an SVG path through the values in a box of `width` by `height`. The last value is at the right edge; `top`
   * and `bottom` are the values at the upper and lower edges. The path is broken where nothing was measured. A single
   * value between two gaps is a line of no length, which is visible by its round ends.
   */
  path(width, height, top, bottom = 0) {
    const step = width / (this.#capacity - 1);
    const begin = width - (this.#values.length - 1) * step;
    let isOpen = false;
    return this.#values.map((value, index) => {
      const wasOpen = isOpen;
      isOpen = value !== null;
      if (!isOpen) return "";
      const y = height - ((Math.min(value, top) - bottom) / (top - bottom)) * height;
      const point = `${(begin + index * step).toFixed(1)} ${y.toFixed(1)}`;
      return wasOpen ? `L${point}` : `M${point}h0`;
    }).join("");
  }
}

/** The median of the values; null if there are none. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length > 0 ? sorted[sorted.length >> 1] : null;
}

/** Returns a round number at or above `value` and `least`: 1, 2 or 5 times a power of ten. */
export function roundTop(value, least) {
  const wanted = Math.max(value, least);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((times) => times * power).find((top) => top >= wanted * 0.999) ?? wanted;
}
