// The tracks of a room, and which of them is shown.

export class TrackList {
  /** `{name, source}` of each, the first one first; empty where the host doesn't say. */
  all = [];

  #chosen = null;
  #isTold = false;

  /** Whether the host says that there is none. */
  get isEmpty() {
    return this.#isTold && this.all.length === 0;
  }

  /** The name of the one that is shown: the one chosen, else the first; null where none is known. */
  get shown() {
    const names = this.all.map(({ name }) => name);
    return names.includes(this.#chosen) ? this.#chosen : names[0] ?? null;
  }

  /** The shown one's name as an offer has it: null in a room of one, where none needs to be named. */
  get asked() {
    return this.all.length > 1 ? this.shown : null;
  }

  /** Takes the host's list; whether another one is shown now. */
  told(list) {
    const before = this.shown;
    this.#isTold = Array.isArray(list);
    if (this.#isTold) this.all = list.filter((track) => typeof track?.name === "string");
    return before !== null && this.shown !== null && this.shown !== before;
  }

  /** Chooses one, also one that isn't there yet; whether another one is shown now. */
  choose(name) {
    const before = this.shown;
    this.#chosen = name;
    return this.shown !== before;
  }

  /** Whether what is said of the track `name`, or of none, is said of the shown one. */
  isShown(name) {
    return typeof name !== "string" || this.shown === null || name === this.shown;
  }
}
