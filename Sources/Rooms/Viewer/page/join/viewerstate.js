// What the page knows of its way to the host.

/**
 * The state of the page, and an EventTarget for everything else. Its events are CustomEvents:
 *
 * | type                | detail                                  | when |
 * |---------------------|-----------------------------------------|------|
 * | `joined`            | `{host, you}`                           | the host has let us in; both are ids |
 * | `left`              | `{}`                                    | that visit is over; `joined` may follow again |
 * | `tracks`            | `[{name, source}]`                      | the room's tracks have changed |
 * | `shown`             | `{}`                                    | another track is shown now; its known state follows |
 * | `stream`            | `MediaStream` or Media Source           | the shown track has a new stream |
 * | `presented`         | `{captured, hasPointer, arrived, shown}` | a picture that came over the WebSocket is shown |
 * | `change`            | `{}`                                    | `phase`, `reason`, `source` or `sound` may have changed |
 * | `looked`            | `{}`                                    | the browser's counters were read, twice a second |
 * | `knock`             | `{}`                                    | more people wait to be let in, and we decide |
 * | `nameless`          | `{}`                                    | the user wants what takes a name, and has none |
 * | `_people`, `_offer` … | the message's data                    | any message of the server, by its own name |
 */
export class ViewerState extends EventTarget {
  /**
   * "connecting", "waiting" (to be let in), "negotiating", "playing", "reconnecting", "locked" (needs a password),
   * "ended" (by the host) or "failed".
   */
  phase = "connecting";
  reconnects = 0;
  /** Why there is no new picture: a message, with `canTryAgain` if a button may help; null if nothing is wrong. */
  reason = null;
  /** Whether the browser requires a click to play. */
  isPlayBlocked = false;
  /** Whether the host has told us that it ends, and none has let us in since. */
  hasEnded = false;

  /** Whether there is nothing to see: the share has ended, or this page isn't let in. */
  get isOver() {
    return this.phase === "ended" || this.phase === "failed" || this.phase === "locked";
  }

  /** The text of the problem; null if there is none. */
  get error() {
    return this.phase === "playing" ? null : this.reason?.title ?? null;
  }

  playBlocked() {
    this.isPlayBlocked = true;
    this.changed();
  }

  /** An attempt begins. After the end of a share, the page keeps saying so until a new one begins. */
  attempting() {
    if (!this.reason) this.enter("connecting");
    else if (this.phase !== "ended") this.enter("reconnecting");
  }

  /** Counts a reconnection, and shows that the pictures of before don't go on, until there are others. */
  interrupted(reason) {
    this.reconnects += 1;
    this.reason = reason;
    this.enter("reconnecting");
  }

  /** No picture comes until the user acts, or the host comes back. */
  stopped(message, canTryAgain, phase) {
    this.reason = { ...message, canTryAgain };
    this.enter(phase);
  }

  /** We are in the room's waiting room. */
  waits(message) {
    this.hasEnded = false;
    this.reason = message;
    this.enter("waiting");
  }

  /** Handles the return of a host that had ended, or that had us wait: the page no longer says so. */
  hostReturned() {
    this.hasEnded = false;
    this.reason = null;
    this.enter("connecting");
  }

  /** Switches to another phase, and announces it. */
  enter(phase) {
    this.phase = phase;
    this.changed();
  }

  changed() {
    this.tell("change", {});
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
