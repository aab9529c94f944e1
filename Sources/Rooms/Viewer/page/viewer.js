// Joins the room of the link, gets the screen from its host, and recovers by itself from failures.

import { readBrowser, readLink } from "./link.js";
import { messages } from "./messages.js";
import { Reception } from "./reception.js";
import { Attempts, Patience, Silence } from "./retry.js";
import { Signalling } from "./signalling.js";
import { Source } from "./source.js";
import { TrackList } from "./tracklist.js";
import { TrackMemory } from "./trackmemory.js";

const JOIN_PATIENCE = 10_000;
// If a session ends because its track was removed, the next message says so.
const TRACKS_PATIENCE = 100;

/**
 * The state of the page, and an EventTarget for everything else. Its events are CustomEvents:
 *
 * | type                | detail                                  | when |
 * |---------------------|-----------------------------------------|------|
 * | `joined`            | `{host, you}`                           | the host has let us in; both are ids |
 * | `left`              | `{}`                                    | that visit is over; `joined` may follow again |
 * | `tracks`            | `[{name, source}]`                      | the room's tracks have changed |
 * | `shown`             | `{}`                                    | another track is shown now; its known state follows |
 * | `stream`            | `MediaStream`                           | the shown track has a new stream |
 * | `change`            | `{}`                                    | `phase`, `reason` or `source` may have changed |
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
  /** The state of the shown track's source. */
  source = new Source();
  tracks = new TrackList();
  /** The contents of `__join` besides room and role. */
  introduction = {};
  /** The reception of the shown track; null if there is none. */
  reception = null;
  /** Why there is no new picture: a message, with `canTryAgain` if a button may help; null if nothing is wrong. */
  reason = null;
  /** Whether the browser requires a click to play. */
  isPlayBlocked = false;

  #stage;
  #signalling = null;
  #attempts = new Attempts();
  #patience = new Patience();
  #decodedBefore = 0;
  #memory = new TrackMemory();
  #silence = new Silence();
  /** Whether the host has told us that it ends, and none has let us in since. */
  #hasEnded = false;

  constructor(stage) {
    super();
    this.#stage = stage;
  }

  /** The number of frames that this page has decoded, over all its connections. */
  get framesDecoded() {
    return this.#decodedBefore + (this.reception?.counted?.framesDecoded ?? 0);
  }

  /** Whether there is nothing to see: the share has ended, or this page isn't let in. */
  get isOver() {
    return this.phase === "ended" || this.phase === "failed" || this.phase === "locked";
  }

  /** For how many seconds expected pictures have not arrived; null if there is nothing to report. */
  get silence() {
    return this.#silence.seconds;
  }

  /** Seconds until the next attempt; null if none is scheduled. */
  get retryIn() {
    return this.#attempts.dueIn;
  }

  /** The text of the problem; null if there is none. */
  get error() {
    return this.phase === "playing" ? null : this.reason?.title ?? null;
  }

  start() {
    this.link = readLink(location);
    this.#attempts.succeeded();
    this.#hasEnded = false;
    this.reason = null;
    if (!this.browser.hasWebRTC) this.#stop(messages.noWebRTC());
    else if (!this.browser.hasH264) this.#stop(messages.noH264(this.browser.isFirefox), true);
    else if (!this.link.name) this.#stop(messages.noLink());
    else this.#connect();
  }

  /**
   * Ends a wait for the next attempt at once. After a change of network, also retries if the old connection is broken.
   */
  hurry(isOtherNetwork = false) {
    if (this.#attempts.isDue) this.#connect();
    else if (isOtherNetwork && this.reception?.isConnected === false) this.#retry(messages.lostConnection());
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
    const before = this.tracks.shown;
    if (!this.tracks.choose(name) || !this.#signalling) return;
    this.send("__unwatch", { track: before });
    this.#turn();
  }

  /** Handles the first picture of the current stream. */
  firstPicture() {
    // A stream whose connection has been closed may end with a black picture.
    if (!this.reception?.isConnected) return;
    this.reception.arrived();
    this.isPlayBlocked = false;
    this.#attempts.succeeded();
    this.reason = null;
    this.#stage.reveal();
    this.#enter("playing");
  }

  /** Reads the browser's counters. */
  async look() {
    const reception = this.reception;
    if (!(await reception?.look()) || reception !== this.reception) return;
    // In a hidden tab no picture is presented, but pictures are decoded.
    const isDecoded = reception.counted.framesDecoded > 0 && this.#stage.pictureSize.width > 0;
    if (this.phase !== "playing" && isDecoded) this.firstPicture();
    const isDue = this.phase === "playing" && this.source.state === "live";
    this.#silence.look(reception.counted, isDue);
  }

  #connect() {
    this.#disconnect();
    // After the end of a share, the page keeps saying so until a new one begins, no matter how often it checks.
    if (!this.reason) this.#enter("connecting");
    else if (this.phase !== "ended") this.#enter("reconnecting");
    // Events of an abandoned connection must not affect the next one.
    const only = (action) => (...values) => {
      if (this.#signalling === signalling) action(...values);
    };
    const signalling = new Signalling(this.link.socket, this.link.room, this.introduction, {
      onMessage: only((name, data) => this.#heard(name, data)),
      concerns: ({ track }) => this.tracks.isShown(track),
      onRefused: only((reason) => this.#stop(messages.refused(reason), true)),
      onPasswordWanted: only(() => this.#stop(messages.passwordWanted(), false, "locked")),
      onFull: only((reason) => this.#retry(messages.full(reason))),
      onHostLeft: only(() => this.#ended()),
      onWrongLink: only(() => this.#stop(messages.wrongLink())),
      onSentAway: only(() => this.#stop(messages.sentAway())),
      onExpired: only(() => this.#stop(messages.expired())),
      onClosed: only(() => this.#noHost(this.reception ? messages.lostConnection() : messages.hostAway())),
    });
    this.#signalling = signalling;
    this.#patience.expect(JOIN_PATIENCE, () => this.#noHost(messages.hostAway()));
  }

  /** Handles a message, and then passes it on as an event. */
  #heard(name, data) {
    const isHosts = data.socketId === undefined || data.socketId === this.#signalling.host;
    if (isHosts) this.#memory.keep(name, data, data.track ?? this.tracks.all[0]?.name);
    if (name === "_peers") {
      if (this.#hasEnded) this.#begin();
      this.tracks.told(data.tracks);
      this.#tell("tracks", this.tracks.all);
      this.#negotiate();
    } else if (name === "_tracks") this.#listed(data.tracks);
    else if (isHosts && this.tracks.isShown(data.track)) {
      if (name === "_state") {
        this.source.told(data);
        if (this.source.state === "live" && this.reception?.isConnected) this.#awaitPicture();
        this.#changed();
      } else if (name === "_session_ended") {
        if (this.reception?.isAnswered) this.#sessionEnded();
      }
      else this.reception?.heard(name, data);
    }
    this.#tell(name, data);
    if (name === "_peers") this.#tell("joined", { host: this.#signalling?.host, you: this.#signalling?.you });
  }

  #listed(list) {
    if (!Array.isArray(list)) return;
    const isOther = this.tracks.told(list);
    this.#tell("tracks", this.tracks.all);
    // Also if the first track has been added or the last one removed.
    if (isOther || this.tracks.isEmpty === (this.reception !== null)) this.#turn();
  }

  /** Switches to the track that is shown now. */
  #turn() {
    this.#stage.hold();
    this.source = new Source();
    if (this.tracks.isEmpty) this.source.told({ source: "waiting" });
    this.#tell("shown", {});
    for (const [name, data] of this.#memory.of(this.tracks.shown)) {
      if (name === "_state") this.source.told(data);
      else this.#tell(name, data);
    }
    this.#negotiate();
    this.#changed();
  }

  #sessionEnded() {
    const reception = this.reception;
    setTimeout(() => {
      if (reception && this.reception === reception) this.#retry(messages.lostConnection());
    }, TRACKS_PATIENCE);
  }

  #negotiate() {
    this.#endReception();
    this.#patience.stop();
    if (this.phase === "connecting") this.#enter("negotiating");
    // Without a track there is nothing to ask for until one is added.
    if (this.tracks.isEmpty) return;
    const only = (action) => (...values) => {
      if (this.reception === reception) action(...values);
    };
    const reception = new Reception(this.#signalling, this.tracks.asked, this, {
      onStream: only((stream) => this.#tell("stream", stream)),
      onConnected: only(() => this.#awaitPicture()),
      onFailure: only((reason) => this.#retry(reason)),
    });
    this.reception = reception;
    reception.open();
  }

  /** Waits for a picture. A live source has one for a new viewer; any other may have none. */
  #awaitPicture() {
    this.reception.expectPicture(() => this.source.state === "live" && !this.isPlayBlocked);
  }

  /** Handles the end of the host. Nothing it shared stays visible. If it comes back, the page continues by itself. */
  #ended() {
    this.#hasEnded = true;
    this.#close();
    this.reason = { ...messages.hostLeft(), canTryAgain: true };
    this.#attempts.again(() => this.#connect());
    this.#enter("ended");
  }

  /** Handles the return of a host that had ended. */
  #begin() {
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
    this.#attempts.again(() => this.#connect());
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
    this.#attempts.stop();
    this.#patience.stop();
    this.#stage.hold();
    this.#endReception();
    const wasJoined = this.#signalling !== null;
    this.#signalling?.close();
    this.#signalling = null;
    this.source = new Source();
    this.#memory.forget();
    if (wasJoined) this.#tell("left", {});
  }

  #endReception() {
    this.#silence = new Silence();
    this.#decodedBefore = this.framesDecoded;
    this.reception?.close();
    this.reception = null;
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
