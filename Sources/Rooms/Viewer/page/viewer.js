// Stays in the room of the link, gets the screen from its host, and comes back by itself from whatever goes wrong.

import { readBrowser, readLink } from "./link.js";
import { messages } from "./messages.js";
import { Reception } from "./reception.js";
import { Attempts, Patience, Silence } from "./retry.js";
import { Signalling } from "./signalling.js";
import { Source } from "./source.js";
import { TrackList } from "./tracklist.js";
import { TrackMemory } from "./trackmemory.js";

const JOIN_PATIENCE = 10_000;
// Where a session ends because its track is no more, that is said in the next message.
const TRACKS_PATIENCE = 100;

/**
 * What the page is doing, and an EventTarget for all who do something beside it. Its events are CustomEvents:
 *
 * | type                | detail                                  | when |
 * |---------------------|-----------------------------------------|------|
 * | `joined`            | `{host, you}`                           | the host has let us in; both are ids |
 * | `left`              | `{}`                                    | that stay is over; `joined` may come again |
 * | `tracks`            | `[{name, source}]`                      | the room's tracks have changed |
 * | `shown`             | `{}`                                    | another track is shown from now on; what is known of it follows |
 * | `stream`            | `MediaStream`                           | the shown track has this stream from now on |
 * | `change`            | `{}`                                    | `phase`, `reason` or `source` may be others now |
 * | `_people`, `_offer` … | the message's data                    | any message of the server, by its own name |
 *
 * `send(eventName, data)` says something to the server; `introduction` is what `__join` carries beside room and role (`name`,
 * `password`); `watch(track)` shows another track.
 */
export class Viewer extends EventTarget {
  link = readLink(location);
  browser = readBrowser();
  /** "connecting", "negotiating", "playing", "reconnecting", "locked" (a password is wanted), "ended" (by the host) or "failed". */
  phase = "connecting";
  reconnects = 0;
  /** What the host says of the shown track's source. */
  source = new Source();
  tracks = new TrackList();
  /** What `__join` carries beside room and role. */
  introduction = {};
  /** The way by which the shown track comes; null while there is none. */
  reception = null;
  /** Why there is no new picture: a message, with `canTryAgain` where a button may help; null where nothing is wrong. */
  reason = null;
  /** Whether the browser waits for a click. */
  isPlayBlocked = false;

  #stage;
  #signalling = null;
  #attempts = new Attempts();
  #patience = new Patience();
  #decodedBefore = 0;
  #memory = new TrackMemory();
  #silence = new Silence();
  /** Whether the host has said that it ends, and no host has let us in since. */
  #hasEnded = false;

  constructor(stage) {
    super();
    this.#stage = stage;
  }

  /** Frames that this page has decoded, over all its connections. */
  get framesDecoded() {
    return this.#decodedBefore + (this.reception?.counted?.framesDecoded ?? 0);
  }

  /** Whether there is nothing to see: the share has ended, or this page isn't let in. */
  get isOver() {
    return this.phase === "ended" || this.phase === "failed" || this.phase === "locked";
  }

  /** For how many seconds no picture has come that should have; null while that is nothing to be told. */
  get silence() {
    return this.#silence.seconds;
  }

  /** Seconds until the next attempt; null where none is due. */
  get retryIn() {
    return this.#attempts.dueIn;
  }

  /** The words of what is wrong; null while nothing is. */
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

  /** Goes on at once where the page waits to; with another network, also where the old one's connection doesn't work any more. */
  hurry(isOtherNetwork = false) {
    if (this.#attempts.isDue) this.#connect();
    else if (isOtherNetwork && this.reception?.isConnected === false) this.#retry(messages.lostConnection());
  }

  /** The button on the card. */
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

  /** Says something to the server: `send("__meet", {on: true})`. */
  send(eventName, data) {
    this.#signalling?.send(eventName, data);
  }

  /** Shows the track `name` in place of the present one. */
  watch(name) {
    const before = this.tracks.shown;
    if (!this.tracks.choose(name) || !this.#signalling) return;
    this.send("__unwatch", { track: before });
    this.#turn();
  }

  /** A picture of the stream shown now is on the screen. */
  firstPicture() {
    // A stream whose connection was closed may end with a black picture.
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
    // In a hidden tab no picture is ever drawn, but they are decoded.
    const isDecoded = reception.counted.framesDecoded > 0 && this.#stage.pictureSize.width > 0;
    if (this.phase !== "playing" && isDecoded) this.firstPicture();
    const isDue = this.phase === "playing" && this.source.state === "live";
    this.#silence.look(reception.counted, isDue);
  }

  #connect() {
    this.#disconnect();
    // Where sharing has ended, the page says so until somebody shares again, however often it looks.
    if (!this.reason) this.#enter("connecting");
    else if (this.phase !== "ended") this.#enter("reconnecting");
    // Events of a connection that was given up must not touch the next one.
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

  /** Does what a message says, and then lets others know of it. */
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
    // Also where the first one has come, or the last one is gone.
    if (isOther || this.tracks.isEmpty === (this.reception !== null)) this.#turn();
  }

  /** Goes over to the track that is shown from now on. */
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
    // Without a track there is nothing to ask for until one comes.
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

  /** A source that lives has a picture for who joins; one that does not may have none. */
  #awaitPicture() {
    this.reception.expectPicture(() => this.source.state === "live" && !this.isPlayBlocked);
  }

  /** The host has ended. Nothing of what it shared stays in sight; if it comes back, the page goes on by itself. */
  #ended() {
    this.#hasEnded = true;
    this.#close();
    this.reason = { ...messages.hostLeft(), canTryAgain: true };
    this.#attempts.again(() => this.#connect());
    this.#enter("ended");
  }

  /** A host that had ended is there again. */
  #begin() {
    this.#hasEnded = false;
    this.reason = null;
    this.#enter("connecting");
  }

  /** There is no host, or none any more. */
  #noHost(reason) {
    if (this.#hasEnded) this.#ended();
    else this.#retry(reason);
  }

  /** Tries again by itself. */
  #retry(reason) {
    this.#disconnect();
    this.reconnects += 1;
    this.reason = reason;
    this.#attempts.again(() => this.#connect());
    this.#enter("reconnecting");
  }

  /** Gives up until somebody does something about it. */
  #stop(message, canTryAgain = false, phase = "failed") {
    this.#close();
    this.reason = { ...message, canTryAgain };
    this.#enter(phase);
  }

  /** Leaves the room, and nothing of it on the page. */
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

  /** Goes over to another phase, and says so. */
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
