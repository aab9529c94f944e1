// The track that is shown: which one it is, what the host tells of it, and its reception.

import { messages } from "./messages.js";
import { Reception } from "./reception.js";
import { Relays } from "./retry.js";
import { Silence } from "./silence.js";
import { Source } from "./source.js";
import { TrackList } from "./tracklist.js";
import { TrackMemory } from "./trackmemory.js";

// If a session ends because its track was removed, the next message says so.
const TRACKS_PATIENCE = 100;

/**
 * Gets the pictures of the shown track from the host. It doesn't recover by itself.
 *
 * Handlers: onTold(type, detail), with an event of the viewer; onNegotiation(), before a reception begins;
 * onFailure(reason), with a message.
 */
export class ShownTrack {
  /** The state of the track's source. */
  source = new Source();
  /** "live", "muted" (by the sharer) or "none". */
  sound = "none";
  tracks = new TrackList();
  /** The servers by which the host may be reached. */
  relays = new Relays();
  /** The reception of the track; null if there is none. */
  reception = null;
  /** The connection to the host; null if there is none. */
  signalling = null;

  #viewer;
  #stage;
  #handlers;
  #decodedBefore = 0;
  #memory = new TrackMemory();
  #silence = new Silence();

  constructor(viewer, stage, handlers) {
    this.#viewer = viewer;
    this.#stage = stage;
    this.#handlers = handlers;
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
    this.#ask();
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
      if (this.reception && this.tracks.isStill(asked) && this.#goesOn(data.watching)) return;
      if (this.reception) this.signalling.send("__unwatch", asked === null ? {} : { track: asked });
      this.#ask();
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
        if (this.reception?.isAnswered) this.#sessionEnded();
      }
      else this.reception?.heard(name, data);
    }
  }

  /** Ends the reception and forgets what the host has told, because the room is left. */
  leave() {
    this.#endReception();
    this.signalling = null;
    this.source = new Source();
    this.sound = "none";
    this.#memory.forget();
  }

  /**
   * Whether the reception goes on: it was asked for by this connection, or by one before it, and the host, which names
   * the tracks that it still sends, sends it.
   */
  #goesOn(watching) {
    if (this.reception.signalling === this.signalling) return true;
    this.reception.signalling = this.signalling;
    return watching?.includes(this.reception.track ?? this.tracks.all[0]?.name) === true;
  }

  #heardSound({ sound }) {
    this.sound = sound === "live" || sound === "muted" ? sound : "none";
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
    this.sound = "none";
    if (this.tracks.isEmpty) this.source.told({ source: "waiting" });
    this.#handlers.onTold("shown", {});
    for (const [name, data] of this.#memory.of(this.tracks.shown)) {
      if (name === "_state") this.source.told(data);
      else if (name === "_sound") this.#heardSound(data);
      else this.#handlers.onTold(name, data);
    }
    this.#handlers.onNegotiation();
    this.#ask();
    this.#handlers.onTold("change", {});
  }

  #sessionEnded() {
    const reception = this.reception;
    setTimeout(() => {
      if (reception && this.reception === reception) this.#handlers.onFailure(messages.lostConnection());
    }, TRACKS_PATIENCE);
  }

  #ask() {
    this.#endReception();
    // Without a track there is nothing to ask for until one is added.
    if (this.tracks.isEmpty) return;
    const only = (action) => (...values) => {
      if (this.reception === reception) action(...values);
    };
    const { browser, link } = this.#viewer;
    const page = { browser, link, relays: this.relays };
    const reception = new Reception(this.signalling, this.tracks.asked, page, {
      onStream: only((stream) => this.#handlers.onTold("stream", stream)),
      onConnected: only(() => this.#awaitPicture()),
      onFailure: only((reason) => this.#handlers.onFailure(reason)),
      onOtherWay: only(() => this.#ask()),
    }, true);
    this.reception = reception;
    reception.open();
  }

  /** Waits for a picture. A live source has one for a new viewer; any other may have none. */
  #awaitPicture() {
    this.reception.expectPicture(() => this.source.state === "live" && !this.#viewer.isPlayBlocked);
  }

  #endReception() {
    this.#silence = new Silence();
    this.#decodedBefore = this.framesDecoded;
    this.reception?.close();
    this.reception = null;
  }
}
