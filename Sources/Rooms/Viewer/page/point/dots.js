// The dots with which others point, and for how long each is shown. Nothing here accesses the page.

import { cleanName } from "../element.js";

// In milliseconds since the last news of a dot.
const FADES_AFTER = 600;
const GONE_AFTER = 1000;
const MOST_DOTS = 50;

/** How visible a dot is, from 0 to 1, whose last news is `age` milliseconds old. */
export function opacityAt(age) {
  return Math.max(0, Math.min(1, (GONE_AFTER - age) / (GONE_AFTER - FADES_AFTER)));
}

/** The hue of a name's color, in degrees: the same on all pages (FNV-1a of its code points). */
export function hueOf(name) {
  let hash = 0x811c9dc5;
  for (const character of name) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193);
  return (hash >>> 0) % 360;
}

export class Dots {
  #dots = new Map();

  /** Handles `_point`, which came at `now`: a place, or none any more. */
  take({ socketId, name, track, x, y }, now) {
    if (typeof socketId !== "string") return;
    const isPlace = [x, y].every((value) => Number.isFinite(value) && value >= 0 && value <= 1);
    if (!isPlace) {
      this.#dots.delete(socketId);
    } else if (this.#dots.has(socketId) || this.#dots.size < MOST_DOTS) {
      const known = typeof track === "string" ? track : null;
      this.#dots.set(socketId, { id: socketId, name: cleanName(name), track: known, x, y, time: now });
    }
  }

  /** The dots that are shown at `now`, each with `id`, `name` (may be empty), `track` (or null), `x`, `y`, `opacity`. */
  at(now) {
    const shown = [];
    for (const [id, { time, ...dot }] of this.#dots) {
      const opacity = opacityAt(now - time);
      if (opacity > 0) shown.push({ ...dot, opacity });
      else this.#dots.delete(id);
    }
    return shown;
  }

  clear() {
    this.#dots.clear();
  }
}
