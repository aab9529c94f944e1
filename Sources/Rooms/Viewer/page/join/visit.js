// A visit to the room, and whether the connection that carries it is dead.

// The host answers a ping (`__clock`) at once. After this many milliseconds without a packet from a source that is
// never silent, it is sent one; and after this many without an answer, the connection is taken to be dead.
const QUIET = 3000;
const ANSWER_TIMEOUT = 2000;
// The same without pictures that have a path of their own: the answer may have to wait for a large picture on that very
// connection, or for what a slow network still has to bring.
const LONG_ANSWER_TIMEOUT = 10_000;

/** Our visit to the room. It may outlive a connection, a `Signalling`, and go on by another one. */
export class Visit {
  /** Whether the connection is dead while the pictures may go on. */
  isCutOff = false;

  /** The secret that lets another connection go on with our visit; null if there is none. */
  #resumption = null;
  /** The secret of our visit before this one, by which a room that is closed to others knows us; null if none. */
  #before = null;
  /** The connections before this one that our visit may still go on from. Only the host ends those. */
  #former = [];
  /** The number of packets so far, and when the last of them came. */
  #packets = { count: 0, at: 0 };

  /** Whether another connection may go on with the visit. */
  get mayGoOn() {
    return this.#resumption !== null;
  }

  /** The contents of `__join` for another connection. */
  introduction(own) {
    if (this.mayGoOn) return { ...own, resume: this.#resumption };
    return this.#before === null ? { ...own } : { ...own, former: this.#before };
  }

  /** Takes nothing more from `signalling`, without telling the host that we leave. */
  setAside(signalling) {
    if (!signalling.wasOpen) return signalling.close();
    signalling.setAside();
    this.#former.push(signalling);
  }

  /** The host has let us in by `signalling`. */
  letIn(signalling) {
    this.leave();
    this.#resumption = signalling.resumption;
    this.#before = null;
  }

  /** Leaves by all former connections. */
  leave() {
    this.isCutOff = false;
    for (const signalling of this.#former.splice(0)) signalling.close();
  }

  /** Makes the next visit another one. */
  forget() {
    this.#before = this.#resumption ?? this.#before;
    this.#resumption = null;
  }

  /** Takes the browser's counters of packets. */
  count({ packets, soundPackets = 0 }) {
    const count = packets + soundPackets;
    if (count !== this.#packets.count) this.#packets = { count, at: performance.now() };
  }

  /** Whether no packet has come for some time. */
  get isQuiet() {
    return performance.now() - this.#packets.at > QUIET;
  }
}

/**
 * Whether the host has left a ping unanswered for so long that `signalling`, which may be null, must be dead.
 * `reception`, which may be null too, is that of the pictures.
 */
export function isDead(signalling, reception) {
  const haveOwnPath = reception?.isConnected === true && !reception.isByWebSocket;
  return signalling?.pingAge > (haveOwnPath ? ANSWER_TIMEOUT : LONG_ANSWER_TIMEOUT);
}
