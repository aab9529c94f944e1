// What was said last of each track, for when another one is shown.

const KEPT = new Set(["_state", "_pointer_shape", "_pointer", "_pointer_mode"]);
// As many as a room has.
const MOST_TRACKS = 16;

export class TrackMemory {
  #tracks = new Map();

  /** Keeps a message about `track`, if it is one that holds until the next of its name. */
  keep(name, data, track) {
    if (!KEPT.has(name) || typeof track !== "string") return;
    if (!this.#tracks.has(track)) {
      if (this.#tracks.size >= MOST_TRACKS) return;
      this.#tracks.set(track, new Map());
    }
    this.#tracks.get(track).set(name, { data, time: performance.now() });
  }

  /** What holds of `track` now: pairs of a message's name and data. */
  of(track) {
    return [...(this.#tracks.get(track) ?? [])].map(([name, { data, time }]) => [name, aged(name, data, time)]);
  }

  forget() {
    this.#tracks.clear();
  }
}

function aged(name, data, time) {
  if (name === "_state" && Number.isFinite(data.since)) {
    return { ...data, since: data.since + (performance.now() - time) / 1000 };
  }
  // A session's time stamps mean nothing to the next one.
  return name === "_pointer_mode" ? { ...data, rtp: undefined } : data;
}
