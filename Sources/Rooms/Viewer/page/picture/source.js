// The source of the pictures, as reported by the host.

/** The state of a track's source, and how long it has lasted. */
export class Source {
  /** "live", "paused", "waiting" (no picture yet) or "gone"; "live" if the host hasn't reported any. */
  state = "live";
  /** The host's explanation, in English; may be empty. */
  message = "";
  /** Whether the host says that it sends a picture every 2.5 s at least while it is live. */
  isSteady = false;

  #from = null;

  /** How many seconds the state has lasted; null if unknown. */
  get age() {
    return this.#from === null ? null : Math.floor((performance.now() - this.#from) / 1000);
  }

  /**
   * Handles the data of `_state`.
   *
   * @param {{ source?: string, since?: number, message?: string, steady?: boolean }} state
   */
  told({ source, since, message, steady }) {
    this.state = String(source ?? "live");
    this.message = String(message ?? "");
    this.isSteady = steady === true;
    this.#from = Number.isFinite(since) ? performance.now() - Math.max(0, since) * 1000 : null;
  }
}
