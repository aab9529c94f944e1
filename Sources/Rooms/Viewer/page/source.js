// Where the pictures come from, as the host tells it.

/** What the source of a track is doing, and since when. */
export class Source {
  /** "live", "paused", "waiting" (no picture yet) or "gone"; "live" where nothing was said. */
  state = "live";
  /** The host's own words, in English; may be empty. */
  message = "";

  #from = null;

  /** For how many seconds it has been so; null where nobody knows. */
  get age() {
    return this.#from === null ? null : Math.floor((performance.now() - this.#from) / 1000);
  }

  /** Takes the data of `_state`. */
  told({ source, since, message }) {
    this.state = String(source ?? "live");
    this.message = String(message ?? "");
    this.#from = Number.isFinite(since) ? performance.now() - Math.max(0, since) * 1000 : null;
  }
}
