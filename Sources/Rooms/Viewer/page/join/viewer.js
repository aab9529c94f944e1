// Joins the room of the link, and recovers by itself from failures.

import { readBrowser, readLink } from "./link.js";
import { messages } from "../words/messages.js";
import { refusesPage } from "./reach.js";
import { Recovery } from "./recovery.js";
import { ShownTrack } from "../picture/shown.js";
import { Signalling } from "./signalling.js";
import { ViewerState } from "./viewerstate.js";
import { isDead, Visit } from "./visit.js";

/**
 * The page's visit to the room. `send(eventName, data)` sends a message to the server; `introduction` is what `__join`
 * contains besides room and role (`name`, `password`); `watch(track)` shows another track.
 */
export class Viewer extends ViewerState {
  link = readLink(location);
  browser = readBrowser();
  /** The contents of `__join` besides room and role. */
  introduction = {};

  #stage;
  #shown;
  #signalling = null;
  #recovery = new Recovery(() => this.#reconnect());
  #visit = new Visit();

  constructor(stage) {
    super();
    this.#stage = stage;
    this.#shown = new ShownTrack(this, stage, {
      onTold: (type, detail) => this.tell(type, detail),
      onNegotiation: () => {
        this.#recovery.answered();
        if (this.phase === "connecting") this.enter("negotiating");
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
  get visit() { return this.#signalling?.resumption ?? null; }

  /** Seconds until the next attempt; null if none is scheduled. */
  get retryIn() { return this.#recovery.dueIn; }

  /** Whether the connection to the host has broken off, and no pictures come either. */
  get isInterrupted() { return this.#visit.isCutOff && this.#visit.isQuiet; }

  start() {
    this.link = readLink(location);
    // It may be another room, or we may have another name.
    this.#visit.forget();
    this.#recovery.succeeded();
    this.hasEnded = false;
    this.reason = null;
    if (!this.link.name) this.#stop(messages.noLink());
    else this.#connect();
  }

  /**
   * Ends a wait for the next attempt at once. After a change of network, also retries if the old connection is broken.
   */
  hurry(isOtherNetwork = false) {
    // Who waits to be let in asks the host nothing, and wouldn't notice that the connection is dead.
    if (this.#recovery.isDue || (isOtherNetwork && this.phase === "waiting")) this.#reconnect();
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
      this.changed();
    } else if (this.phase === "ended") {
      this.reason = null;
      this.#connect();
    } else {
      this.start();
    }
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
    this.enter("playing");
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
    this.tell("looked", {});
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
    this.attempting();
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
      onLocked: only(() => this.#retry(messages.roomLocked())),
      onTurnedAway: only(() => this.#stop(messages.turnedAway(), true)),
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
    if (name === "_waiting") this.#wait();
    if (name === "_peers") this.#letIn(isRenewed);
    const { reception } = this;
    this.#shown.heard(name, data);
    // The host had ended our session meanwhile.
    if (isRenewed && reception !== this.reception) this.interrupted(messages.lostConnection());
    this.tell(name, data);
    if (name === "_peers" && !isRenewed) {
      this.tell("joined", { host: this.#signalling?.host, you: this.#signalling?.you });
    }
  }

  /** Waits to be admitted. There is no time limit. */
  #wait() {
    this.#recovery.stop();
    this.#recovery.succeeded();
    // What was asked for early isn't answered.
    this.#shown.leave();
    this.#shown.signalling = this.#signalling;
    this.#stage.clear();
    this.waits(messages.toBeLetIn());
  }

  /** `isRenewed`: whether our visit goes on. */
  #letIn(isRenewed) {
    if (this.hasEnded || this.phase === "waiting") this.hostReturned();
    this.#recovery.reached();
    // It may be another host, which knows nothing of us.
    const isOther = this.#visit.isCutOff && !isRenewed;
    this.#visit.letIn(this.#signalling);
    if (isOther) {
      this.#stage.hold();
      this.#shown.leave();
      this.#shown.signalling = this.#signalling;
      this.tell("left", {});
      this.interrupted(messages.lostConnection());
    }
    if (isRenewed) this.#recovery.succeeded();
  }

  /** Handles the end of the host. Nothing it shared stays visible. If it comes back, the page continues by itself. */
  #ended() {
    this.hasEnded = true;
    this.#visit.forget();
    this.#close();
    this.#recovery.schedule();
    this.stopped(messages.hostLeft(), true, "ended");
  }

  /** Handles a missing or lost host. */
  #noHost(reason) {
    if (this.hasEnded) this.#ended();
    else this.#retry(reason);
  }

  /** Schedules another attempt. */
  #retry(reason) {
    this.#disconnect();
    this.#recovery.schedule();
    this.interrupted(reason);
  }

  /** Gives up until the user acts. */
  #stop(message, canTryAgain = false, phase = "failed") {
    this.#close();
    this.stopped(message, canTryAgain, phase);
  }

  /** Leaves the room and clears the page. */
  #close() {
    this.#disconnect();
    this.#stage.clear();
    this.tracks.told([]);
    this.tell("tracks", this.tracks.all);
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
    if (wasJoined) this.tell("left", {});
  }
}
