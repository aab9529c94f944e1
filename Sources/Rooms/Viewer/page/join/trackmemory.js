// The latest messages about each track, for when another one is shown.

const KEPT = new Set(["_state", "_sound", "_pointer_shape", "_pointer", "_pointer_mode"]);
// The most that a room has.
const MOST_TRACKS = 16;

export class TrackMemory {
  #tracks = new Map();

  /** Keeps a message about `track`, if it is of a kind that stays valid until the next. */
  keep(name, data, track) {
    if (!KEPT.has(name) || typeof track !== "string") return;
    if (!this.#tracks.has(track)) {
      if (this.#tracks.size >= MOST_TRACKS) return;
      this.#tracks.set(track, new Map());
    }
    this.#tracks.get(track).set(name, { data, time: performance.now() });
  }

  /** The messages that are valid for `track` now, as pairs of name and data. */
  of(track) {
    return [...(this.#tracks.get(track) ?? [])].map(([name, { data, time }]) => [name, aged(name, data, time)]);
  }

  /** Forgets the tracks that aren't among `names`. */
  retain(names) {
    for (const track of this.#tracks.keys()) {
      if (!names.includes(track)) this.#tracks.delete(track);
    }
  }

  forget() {
    this.#tracks.clear();
  }
}

function aged(name, data, time) {
  if (name === "_state" && Number.isFinite(data.since)) {
    return { ...data, since: data.since + (performance.now() - time) / 1000 };
  }
  // The timestamps of one session mean nothing in the next.
  return name === "_pointer_mode" ? { ...data, rtp: undefined } : data;
}
