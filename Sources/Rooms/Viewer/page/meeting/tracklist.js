// The tracks of a room, and which of them is shown.

export class TrackList {
  /** `{name, source}` of each track, in order; empty if the host doesn't list them. */
  all = [];

  /**
   * The streams of the tracks that this page sends itself, by their names; null for one that it has stopped sending,
   * and that the host may still call live.
   */
  own = new Map();

  #chosen = null;
  #isTold = false;

  /** Whether the host has told that there are no tracks. */
  get isEmpty() {
    return this.#isTold && this.all.length === 0;
  }

  /** The name of the shown track: the chosen one, or else the first; null if none is known. */
  get shown() {
    const names = this.all.map(({ name }) => name);
    return names.includes(this.#chosen) ? this.#chosen : names[0] ?? null;
  }

  /** The shown track's name for an offer; null in a room with one track, where it needn't be named. */
  get asked() {
    return this.all.length > 1 ? this.shown : null;
  }

  /** Whether `asked`, the answer to an earlier question, is still the shown track. */
  isStill(asked) {
    return !this.isEmpty && (asked ?? this.all[0]?.name ?? null) === this.shown;
  }

  /** Takes the host's list. Returns whether a different track is shown now. */
  told(list) {
    const before = this.shown;
    this.#isTold = Array.isArray(list);
    if (this.#isTold) this.all = list.filter((track) => typeof track?.name === "string");
    return before !== null && this.shown !== null && this.shown !== before;
  }

  /** Chooses a track, which needn't exist yet. Returns whether a different track is shown now. */
  choose(name) {
    const before = this.shown;
    this.#chosen = name;
    return this.shown !== before;
  }

  /** Whether a message about the track `name`, or about no named track, concerns the shown one. */
  isShown(name) {
    return typeof name !== "string" || this.shown === null || name === this.shown;
  }
}
