// The track that is shown: which one it is, what the host tells of it, and its reception.

import { messages } from "../words/messages.js";
import { NoReception, Reception } from "./reception.js";
import { Relays } from "../join/retry.js";
import { Silence } from "./silence.js";
import { Source } from "./source.js";
import { TrackList } from "../meeting/tracklist.js";
import { TrackMemory } from "../join/trackmemory.js";

// In milliseconds, from the host's answer until the track is received over the WebSocket: a WebRTC connection is there
// by then, or perhaps never.
const FALLBACK_DELAY = 3000;
// If a session ends because its track was removed, the next message says so.
const TRACKS_TIMEOUT = 100;

/**
 * Gets the pictures of the shown track from the host: over WebRTC, or over the page's WebSocket until WebRTC has found
 * a path. It doesn't recover by itself.
 *
 * Handlers: onTold(type, detail), with an event of the viewer; onNegotiation(), before a reception begins;
 * onFailure(reason), with a message.
 */
export class ShownTrack {
  /** The state of the track's source. */
  source = new Source();
  tracks = new TrackList();
  /** The servers by which the host may be reached. */
  relays = new Relays();
  /** The reception of the track, a `Reception`, a `Fallback` or a `NoReception`; null if there is none. */
  reception = null;
  /** The last connection over WebRTC, a `Peer`, even if it has found no path; null if there was none. */
  peer = null;
  /** The connection to the host; null if there is none. */
  signalling = null;

  #viewer;
  #stage;
  #handlers;
  #decodedBefore = 0;
  #memory = new TrackMemory();
  #silence = new Silence();
  #sound = "none";
  /** Whether WebRTC found no path last time, so that nobody needs to wait for it. */
  #isBlocked = false;
  #waiting = null;

  constructor(viewer, stage, handlers) {
    this.#viewer = viewer;
    this.#stage = stage;
    this.#handlers = handlers;
  }

  /** "live", "muted" (by the sharer), or "none", also if this browser can't play it as it comes. */
  get sound() {
    return this.reception?.isMute ? "none" : this.#sound;
  }

  /** The number of frames decoded, over all receptions. */
  get framesDecoded() {
    return this.#decodedBefore + (this.reception?.counted?.framesDecoded ?? 0);
  }

  /** For how many seconds expected pictures have not arrived; null if there is nothing to report. */
  get silence() {
    return this.#silence.seconds;
  }

  /**
   * Asks for the track at once, without waiting until the host has let us in and has told its tracks: nearly always it
   * is the right one, and the picture then comes a round trip earlier.
   */
  begin() {
    this.#openReception();
  }

  /** Shows the track `name` instead of the current one. */
  choose(name) {
    const before = this.tracks.shown;
    if (!this.tracks.choose(name) || !this.signalling) return;
    this.signalling.send("__unwatch", { track: before });
    this.#turn();
  }

  /** Updates the silence from the reception's counters. */
  count(isPlaying) {
    this.#silence.look(this.reception.counted, isPlaying && this.source.state === "live", this.source.isSteady);
  }

  /** Handles a message. */
  heard(name, data) {
    const isHosts = data.socketId === undefined || data.socketId === this.signalling.host;
    if (isHosts) this.#memory.keep(name, data, data.track ?? this.tracks.all[0]?.name);
    if (name === "_peers") {
      this.relays.told(data.iceServers);
      this.tracks.told(data.tracks);
      this.#handlers.onTold("tracks", this.tracks.all);
      this.#handlers.onNegotiation();
      const asked = this.reception?.track;
      if (this.reception && this.tracks.isStill(asked) && this.#goesOn(data.watching)) {
        this.#fallBackAtOnce();
        return;
      }
      if (this.reception) {
        this.#stage.hold();
        this.signalling.send("__unwatch", asked === null ? {} : { track: asked });
      }
      this.#openReception();
    } else if (name === "_tracks") this.#listed(data.tracks);
    else if (isHosts && this.tracks.isShown(data.track)) {
      if (name === "_state") {
        this.source.told(data);
        if (this.source.state === "live" && this.reception?.isConnected) this.#awaitPicture();
        this.#handlers.onTold("change", {});
      } else if (name === "_sound") {
        this.#heardSound(data);
        this.#handlers.onTold("change", {});
      } else if (name === "_session_ended") {
        if (this.reception?.isAnswered && !this.reception.sessionEnded?.()) this.#sessionEnded();
      } else {
        this.reception?.heard(name, data);
        if (name === "_answer") this.#awaitPath();
      }
    }
  }

  /** Ends the reception and forgets what the host has told, because the room is left. */
  leave() {
    this.#endReception();
    this.signalling = null;
    this.source = new Source();
    this.#sound = "none";
    this.#memory.forget();
  }

  /**
   * Whether the reception goes on: it was asked for by this connection, or by one before it, and the host, which names
   * the tracks that it still sends, sends it.
   */
  #goesOn(watching) {
    if (this.reception.signalling === this.signalling) return true;
    this.reception.signalling = this.signalling;
    // Pictures that came over a WebSocket end with it. What the host sends instead is for an attempt to find a path. If
    // that has been given up, the WebSocket was dead already when the pictures were asked for again.
    if (this.reception.isByWebSocket && !this.reception.hasAttempt) return false;
    return watching?.includes(this.reception.track ?? this.tracks.all[0]?.name) === true;
  }

  #heardSound({ sound }) {
    this.#sound = sound === "live" || sound === "muted" ? sound : "none";
  }

  #listed(list) {
    if (!Array.isArray(list)) return;
    const isOther = this.tracks.told(list);
    // A track that returns is a new one, and without sound nothing is told of its sound.
    this.#memory.retain(this.tracks.all.map(({ name }) => name));
    this.#handlers.onTold("tracks", this.tracks.all);
    // Also if the first track has been added or the last one removed.
    if (isOther || this.tracks.isEmpty === (this.reception !== null)) this.#turn();
  }

  /** Switches to the track that is shown now. */
  #turn() {
    this.#stage.hold();
    this.source = new Source();
    this.#sound = "none";
    if (this.tracks.isEmpty) this.source.told({ source: "waiting" });
    this.#handlers.onTold("shown", {});
    for (const [name, data] of this.#memory.of(this.tracks.shown)) {
      if (name === "_state") this.source.told(data);
      else if (name === "_sound") this.#heardSound(data);
      else this.#handlers.onTold(name, data);
    }
    this.#handlers.onNegotiation();
    this.#openReception();
    this.#handlers.onTold("change", {});
  }

  #sessionEnded() {
    const reception = this.reception;
    setTimeout(() => {
      if (reception && this.reception === reception) this.#handlers.onFailure(messages.lostConnection());
    }, TRACKS_TIMEOUT);
  }

  /** Begins to receive the track that is shown, which ends the reception so far. */
  #openReception() {
    this.#endReception();
    // Without a track there is nothing to ask for until one is added.
    if (this.tracks.isEmpty) return;
    if (this.#viewer.browser.hasH264) {
      this.reception = this.#make();
      this.reception.open();
    } else {
      this.reception = new NoReception(this.signalling, this.tracks.asked);
    }
    if (this.signalling.host !== null) this.#fallBackAtOnce();
  }

  /** Makes a reception over WebRTC. Beside a `Fallback`, it is an attempt, and what happens to it concerns that. */
  #make() {
    const tell = (name, own) => (value) => {
      if (this.reception === reception) own(value);
      else this.reception?.attempted?.(reception, name, value);
    };
    const { browser, link } = this.#viewer;
    const page = { browser, link, relays: this.relays };
    const reception = new Reception(this.signalling, this.tracks.asked, page, {
      onStream: tell("stream", (stream) => this.#handlers.onTold("stream", stream)),
      onConnected: tell("connected", () => this.#awaitPicture()),
      onOtherWay: tell("otherWay", () => this.#openReception()),
      onFailure: tell("failure", (reason) => {
        if (reception.hasNoPath) this.#fallBack(reason);
        else this.#handlers.onFailure(reason);
      }),
    }, true);
    this.peer = reception.peer;
    return reception;
  }

  #awaitPath() {
    const { reception } = this;
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => {
      if (reception && this.reception === reception && !reception.isConnected) this.#fallBack();
    }, FALLBACK_DELAY);
  }

  /** Receives the track over the WebSocket if WebRTC is not worth waiting for. */
  #fallBackAtOnce() {
    const { hasH264, isFirefox } = this.#viewer.browser;
    if (!hasH264) this.#fallBack(messages.noH264(isFirefox));
    else if (this.#isBlocked) this.#fallBack();
  }

  /** Receives the track over the WebSocket. `failure` is why WebRTC has failed; null if it may still find a path. */
  async #fallBack(failure = null) {
    const before = this.reception;
    // Loaded only if it is needed, so that the page itself stays small.
    const file = await import("../fallback/fallback.js").catch(() => null);
    if (this.reception !== before || before.isByWebSocket || before.isConnected || before.isOver !== (failure !== null)) {
      return;
    }
    if (!file) {
      // The browser may have what it takes: only the file didn't come.
      if (failure) this.#handlers.onFailure(failure.isFinal ? messages.lostConnection() : failure);
      return;
    }
    const only = (action) => (value) => {
      if (this.reception === reception) action(value);
    };
    const attempt = failure ? null : before;
    const make = this.#viewer.browser.hasH264 ? () => this.#make() : null;
    const page = { video: this.#stage.video, messages, attempt, failure, make };
    const reception = new file.Fallback(this.signalling, this.tracks.asked, page, {
      onStream: only((stream) => {
        this.#isBlocked = true;
        this.#handlers.onTold("stream", stream);
      }),
      onConnected: only(() => this.#awaitPicture()),
      onPresented: only((picture) => this.#handlers.onTold("presented", picture)),
      onFailure: only((reason) => this.#handlers.onFailure(reason)),
      onPath: only((found) => this.#changeOver(found)),
    });
    this.reception = reception;
    reception.open();
  }

  /** Goes on with `found`, a reception over WebRTC. */
  #changeOver(found) {
    const { hasPicture } = this.reception;
    this.#decodedBefore = this.framesDecoded;
    this.#silence = new Silence();
    this.#isBlocked = false;
    this.reception = found;
    if (hasPicture) this.#handlers.onTold("stream", found.peer.stream);
    for (const [name, data] of this.#memory.of(this.tracks.shown)) {
      if (name === "_pointer_mode") this.#handlers.onTold(name, data);
    }
    if (found.isConnected) this.#awaitPicture();
    this.#handlers.onTold("change", {});
  }

  /** Waits for a picture. A live source has one for a new viewer; any other may have none. */
  #awaitPicture() {
    this.reception.expectPicture(() => this.source.state === "live" && !this.#viewer.isPlayBlocked);
  }

  #endReception() {
    this.#silence = new Silence();
    this.#decodedBefore = this.framesDecoded;
    clearTimeout(this.#waiting);
    this.reception?.close();
    this.reception = null;
  }
}
