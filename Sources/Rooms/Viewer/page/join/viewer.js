// Joins the room of the link, and recovers by itself from failures.

import { readBrowser, readLink } from "./link.js";
import { messages } from "../words/messages.js";
import { refusesPage } from "./reach.js";
import { Recovery } from "./recovery.js";
import { ShownTrack } from "../picture/shown.js";
import { Signalling } from "./signalling.js";
import { isDead, Visit } from "./visit.js";

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
 * | `_people`, `_offer` … | the message's data                    | any message of the server, by its own name |
 *
 * `send(eventName, data)` sends a message to the server; `introduction` is what `__join` contains besides room and role
 * (`name`, `password`); `watch(track)` shows another track.
 */
export class Viewer extends EventTarget {
  link = readLink(location);
  browser = readBrowser();
  /**
   * "connecting", "negotiating", "playing", "reconnecting", "locked" (needs a password), "ended" (by the host) or
   * "failed".
   */
  phase = "connecting";
  reconnects = 0;
  /** The contents of `__join` besides room and role. */
  introduction = {};
  /** Why there is no new picture: a message, with `canTryAgain` if a button may help; null if nothing is wrong. */
  reason = null;
  /** Whether the browser requires a click to play. */
  isPlayBlocked = false;

  #stage;
  #shown;
  #signalling = null;
  #recovery = new Recovery(() => this.#reconnect());
  #visit = new Visit();
  /** Whether the host has told us that it ends, and none has let us in since. */
  #hasEnded = false;

  constructor(stage) {
    super();
    this.#stage = stage;
    this.#shown = new ShownTrack(this, stage, {
      onTold: (type, detail) => this.#tell(type, detail),
      onNegotiation: () => {
        this.#recovery.answered();
        if (this.phase === "connecting") this.#enter("negotiating");
      },
      onFailure: (reason) => (reason.isFinal ? this.#stop(reason, true) : this.#retry(reason)),
    });
  }

  // What is known of the shown track, as `ShownTrack` describes it.
  get source() { return this.#shown.source; }
  get sound() { return this.#shown.sound; }
  get tracks() { return this.#shown.tracks; }
  get relays() { return this.#shown.relays; }
  get reception() { return this.#shown.reception; }
  get framesDecoded() { return this.#shown.framesDecoded; }
  get silence() { return this.#shown.silence; }
  get peer() { return this.#shown.peer; }

  /** Whether there is nothing to see: the share has ended, or this page isn't let in. */
  get isOver() {
    return this.phase === "ended" || this.phase === "failed" || this.phase === "locked";
  }

  /** Seconds until the next attempt; null if none is scheduled. */
  get retryIn() {
    return this.#recovery.dueIn;
  }

  /** Whether the connection to the host has broken off, and no pictures come either. */
  get isInterrupted() {
    return this.#visit.isCutOff && this.#visit.isQuiet;
  }

  /** The text of the problem; null if there is none. */
  get error() {
    return this.phase === "playing" ? null : this.reason?.title ?? null;
  }

  start() {
    this.link = readLink(location);
    // It may be another room, or we may have another name.
    this.#visit.forget();
    this.#recovery.succeeded();
    this.#hasEnded = false;
    this.reason = null;
    if (!this.link.name) this.#stop(messages.noLink());
    else this.#connect();
  }

  /**
   * Ends a wait for the next attempt at once. After a change of network, also retries if the old connection is broken.
   */
  hurry(isOtherNetwork = false) {
    if (this.#recovery.isDue) this.#reconnect();
    else if (isOtherNetwork && this.#isReceiving && !this.reception.isConnected) this.#retry(messages.lostConnection());
    else if (isOtherNetwork) {
      this.#ping();
      this.seekPath();
    }
  }

  /** Looks for a better path if pictures come over the WebSocket. */
  seekPath() {
    this.reception?.tryAgain?.();
  }

  /** Handles the button on the card. */
  act() {
    if (this.isPlayBlocked) {
      this.isPlayBlocked = false;
      this.#stage.play();
      this.#changed();
    } else if (this.phase === "ended") {
      this.reason = null;
      this.#connect();
    } else {
      this.start();
    }
  }

  playBlocked() {
    this.isPlayBlocked = true;
    this.#changed();
  }

  /** Sends a message to the server: `send("__meet", {on: true})`. */
  send(eventName, data) {
    this.#signalling?.send(eventName, data);
  }

  /** Shows the track `name` instead of the current one. */
  watch(name) {
    this.#shown.choose(name);
  }

  /** Handles the first picture of the current stream. */
  firstPicture() {
    // A stream whose connection has been closed may end with a black picture.
    if (!this.reception?.isConnected) return;
    this.reception.arrived();
    this.isPlayBlocked = false;
    this.#recovery.succeeded();
    this.reason = null;
    this.#stage.reveal();
    this.#enter("playing");
  }

  /** Reads the browser's counters. */
  async look() {
    const reception = this.reception;
    const hasCounted = await reception?.look();
    if (isDead(this.#signalling, this.reception)) this.#broken();
    if (!hasCounted || reception !== this.reception) return;
    this.#visit.count(reception.counted);
    if (this.source.isSteady && this.source.state === "live" && this.#visit.isQuiet) this.#ping();
    // In a hidden tab no picture is presented, but pictures are decoded.
    const isDecoded = reception.counted.framesDecoded > 0 && this.#stage.pictureSize.width > 0;
    if (this.phase !== "playing" && isDecoded) this.firstPicture();
    this.#shown.count(this.phase === "playing");
    this.#tell("looked", {});
  }

  /** Whether the host has let us in, and the shown track is received from it, or has been asked for. */
  get #isReceiving() {
    return this.reception !== null && (this.#signalling?.host ?? null) !== null;
  }

  /** Sends the host a ping, unless it still owes the answer to one. */
  #ping() {
    if (!this.#isReceiving || this.#visit.isCutOff) return;
    if (this.#signalling.pingAge === 0) this.send("__clock", { t: performance.now() });
  }

  /** Makes another attempt: beside the pictures if those go on. */
  #reconnect() {
    if (this.#visit.isCutOff) this.#renew();
    else this.#connect();
  }

  #connect() {
    this.#disconnect();
    // After the end of a share, the page keeps saying so until a new one begins, no matter how often it checks.
    if (!this.reason) this.#enter("connecting");
    else if (this.phase !== "ended") this.#enter("reconnecting");
    this.#join();
    this.#recovery.begin(() => this.#noHost(messages.hostAway()));
    if (!this.#stage.hasPicture) this.#shown.begin();
    this.#awaitReach();
  }

  /** Opens a connection, which goes on with our visit if there was one. */
  #join() {
    // Events of an abandoned connection must not affect the next one.
    const only = (action) => (...values) => {
      if (this.#signalling === signalling) action(...values);
    };
    const signalling = new Signalling(this.link.socket, this.link.room, this.#visit.introduction(this.introduction), {
      onMessage: only((name, data) => this.#heard(name, data)),
      onBinary: only((buffer) => this.reception?.take?.(buffer)),
      // In a room without tracks, an early offer is refused.
      concerns: ({ track }) => !this.tracks.isEmpty && this.tracks.isShown(track),
      onRefused: only((reason) => this.#stop(messages.refused(reason), true)),
      onPasswordWanted: only(() => this.#stop(messages.passwordWanted(), false, "locked")),
      onFull: only((reason) => this.#retry(messages.full(reason))),
      onHostLeft: only(() => this.#ended()),
      onWrongLink: only(() => this.#stop(messages.wrongLink())),
      onRemoved: only(() => this.#stop(messages.removed())),
      onExpired: only(() => this.#stop(messages.expired())),
      onClosed: only(() => this.#broken()),
    });
    this.#signalling = this.#shown.signalling = signalling;
  }

  /**
   * Handles a connection that is dead or couldn't be opened. As long as the pictures have a path of their own, another
   * connection is opened beside them; otherwise everything starts again.
   */
  #broken() {
    if (this.#visit.mayGoOn && this.reception?.isConnected) {
      this.#visit.setAside(this.#signalling);
      this.#visit.isCutOff = true;
      this.#recovery.schedule();
      this.#awaitReach();
    } else {
      const isFirst = this.reconnects === 0 && !this.#signalling?.wasOpen;
      this.#noHost(this.#isReceiving || this.#visit.isCutOff ? messages.lostConnection() : messages.hostAway());
      if (isFirst) this.#askWhy();
    }
  }

  async #askWhy() {
    const isRefused = await refusesPage(this.link.socket);
    if (isRefused && this.phase === "reconnecting") this.#stop(messages.foreignPage(location.origin), true);
  }

  /** Opens another connection beside the pictures. */
  #renew() {
    this.#visit.setAside(this.#signalling);
    this.#join();
    this.#recovery.begin(() => this.#broken());
  }

  /** Tries again as soon as the host can be reached, as long as an attempt hasn't got through to it. */
  #awaitReach() {
    if (this.reconnects === 0 && !this.#visit.isCutOff) return;
    this.#recovery.awaitReach(() => this.#signalling?.wasOpen === true);
  }

  /** Handles a message, and then passes it on as an event. */
  #heard(name, data) {
    const isRenewed = name === "_peers" && this.#visit.isCutOff && Array.isArray(data.watching);
    if (name === "_peers") this.#letIn(isRenewed);
    const { reception } = this;
    this.#shown.heard(name, data);
    // The host had ended our session meanwhile.
    if (isRenewed && reception !== this.reception) this.#showReconnecting();
    this.#tell(name, data);
    if (name === "_peers" && !isRenewed) {
      this.#tell("joined", { host: this.#signalling?.host, you: this.#signalling?.you });
    }
  }

  /** `isRenewed`: whether our visit goes on. */
  #letIn(isRenewed) {
    if (this.#hasEnded) this.#hostReturned();
    this.#recovery.reached();
    // It may be another host, which knows nothing of us.
    const isOther = this.#visit.isCutOff && !isRenewed;
    this.#visit.letIn(this.#signalling);
    if (isOther) {
      this.#stage.hold();
      this.#shown.leave();
      this.#shown.signalling = this.#signalling;
      this.#tell("left", {});
      this.#showReconnecting();
    }
    if (isRenewed) this.#recovery.succeeded();
  }

  /** Counts a reconnection, and shows that the pictures of before don't go on, until there are others. */
  #showReconnecting() {
    this.reconnects += 1;
    this.reason = messages.lostConnection();
    this.#enter("reconnecting");
  }

  /** Handles the end of the host. Nothing it shared stays visible. If it comes back, the page continues by itself. */
  #ended() {
    this.#hasEnded = true;
    this.#visit.forget();
    this.#close();
    this.reason = { ...messages.hostLeft(), canTryAgain: true };
    this.#recovery.schedule();
    this.#enter("ended");
  }

  /** Handles the return of a host that had ended: the page no longer says so. */
  #hostReturned() {
    this.#hasEnded = false;
    this.reason = null;
    this.#enter("connecting");
  }

  /** Handles a missing or lost host. */
  #noHost(reason) {
    if (this.#hasEnded) this.#ended();
    else this.#retry(reason);
  }

  /** Schedules another attempt. */
  #retry(reason) {
    this.#disconnect();
    this.reconnects += 1;
    this.reason = reason;
    this.#recovery.schedule();
    this.#enter("reconnecting");
  }

  /** Gives up until the user acts. */
  #stop(message, canTryAgain = false, phase = "failed") {
    this.#close();
    this.reason = { ...message, canTryAgain };
    this.#enter(phase);
  }

  /** Leaves the room and clears the page. */
  #close() {
    this.#disconnect();
    this.#stage.clear();
    this.tracks.told([]);
    this.#tell("tracks", this.tracks.all);
  }

  #disconnect() {
    this.#recovery.stop();
    this.#stage.hold();
    this.#shown.leave();
    // The next stream tells again.
    this.isPlayBlocked = false;
    const wasJoined = this.#signalling !== null;
    this.#visit.leave();
    this.#signalling?.close();
    this.#signalling = null;
    if (wasJoined) this.#tell("left", {});
  }

  /** Switches to another phase, and announces it. */
  #enter(phase) {
    this.phase = phase;
    this.#changed();
  }

  #changed() {
    this.#tell("change", {});
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
