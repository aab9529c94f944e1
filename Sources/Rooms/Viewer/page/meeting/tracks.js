// The tracks of a room that has several, as small live pictures. A click on one shows it large and pins it. While none
// is pinned, a track that a member starts to present is shown large automatically.

import { element, iconButton, relabel, setText } from "../element.js";
import { Reception } from "../picture/reception.js";
import { isPresented, titleOf, words } from "./meetingwords.js";

const HIDE = "M6 14.5l6-6 6 6";
const BESIDE = "M3.5 5.5h17v13h-17zM12 5.5v13";
const RETRY_AFTER = 3000;
// A host has few screens. Further ones in its list are not drawn.
const MOST_TRACKS = 16;

/** The strip of small pictures. In a room with one track it is hidden and receives nothing. */
export class Tracks {
  #viewer;
  #root = document.getElementById("tracks");
  #list = element("ul", "track-list");
  #beside;
  #toggle;
  #spoken = element("p", "spoken", { role: "status" });
  #small = new Map();
  #host = null;
  #stream = null;
  #isOpen = true;
  /** Whether the other tracks are beside the shown one, and two are equally large. */
  #isBeside = false;
  /** The name of the track that the user has chosen; null if none. */
  #pinned = null;

  constructor(viewer) {
    this.#viewer = viewer;
    this.#beside = iconButton(BESIDE, words.beside, () => this.toggleBeside());
    this.#toggle = iconButton(HIDE, words.hideTracks, () => this.#fold());
    this.#toggle.className = "fold";
    relabel(this.#root, words.tracks);
    this.#root.append(this.#list, this.#beside, this.#toggle, this.#spoken);
    viewer.addEventListener("joined", ({ detail }) => {
      this.#host = detail.host;
      this.#draw();
    });
    viewer.addEventListener("left", () => {
      this.#host = null;
      for (const track of this.#small.values()) track.rest();
    });
    viewer.addEventListener("tracks", () => {
      this.#draw();
      this.#follow();
    });
    viewer.addEventListener("stream", ({ detail }) => {
      this.#stream = detail;
      this.#small.get(viewer.tracks.shown)?.mirror(detail);
    });
    for (const name of ["_state", "_answer", "_ice_candidate", "_session_ended", "_refused"]) {
      viewer.addEventListener(name, ({ detail }) => this.#heard(name, detail));
    }
  }

  /** Shows the next track. Returns false if there is no other. */
  next() {
    const names = this.#names;
    if (names.length < 2) return false;
    this.#choose(names[(names.indexOf(this.#viewer.tracks.shown) + 1) % names.length]);
    return true;
  }

  /** Shows the tracks side by side, or one large again. Returns false if there is no other. */
  toggleBeside() {
    if (this.#names.length < 2) return false;
    this.#isBeside = !this.#isBeside;
    this.#isOpen ||= this.#isBeside;
    this.#draw();
    return true;
  }

  /** A read-only view for tests and the console. */
  get facts() {
    const { shown } = this.#viewer.tracks;
    return Object.freeze(this.#names.map((name) => {
      const track = this.#small.get(name);
      return Object.freeze({ name, shown: name === shown, source: track?.source ?? "live" });
    }));
  }

  get #names() {
    return this.#viewer.tracks.all.slice(0, MOST_TRACKS).map(({ name }) => name);
  }

  /** Pins the track `name`. If it is pinned already, unpins it and shows a presented track, if there is one. */
  #choose(name) {
    this.#pinned = this.#isPinned(name) ? null : name;
    if (this.#pinned === null) this.#follow();
    else this.#show(name);
    this.#draw();
  }

  /** Whether `name` is pinned and shown. */
  #isPinned(name) {
    return name === this.#pinned && name === this.#viewer.tracks.shown;
  }

  /** Shows a presented track, unless the user has pinned one. `name`: the track that has just become live, or null. */
  #follow(name = null) {
    const { all, own, shown } = this.#viewer.tracks;
    if (all.some((track) => track.name === this.#pinned)) return;
    const live = all
      .filter((track) => isPresented(track) && !own.has(track.name) && this.#small.get(track.name)?.source === "live")
      .map((track) => track.name);
    if (live.includes(name)) this.#show(name);
    else if (live.length > 0 && !live.includes(shown)) this.#show(live.at(-1));
  }

  #show(name) {
    if (name === this.#viewer.tracks.shown) return;
    // The offer for the large picture replaces the small picture's session. The small one starts again later.
    this.#small.get(name)?.rest();
    this.#viewer.watch(name);
    setText(this.#spoken, words.trackChosen(name));
    this.#draw();
  }

  #fold() {
    this.#isOpen = !this.#isOpen;
    this.#isBeside = false;
    this.#draw();
  }

  #heard(name, data) {
    if (data.socketId !== undefined && data.socketId !== this.#host) return;
    // In a room with one track, the track isn't named and has no small picture.
    this.#small.get(data.track)?.heard(name, data);
    if (name === "_state" && data.source === "live") this.#follow(data.track);
  }

  #draw() {
    const names = this.#names;
    const several = names.length > 1;
    const sources = new Map(this.#viewer.tracks.all.map(({ name, source }) => [name, source]));
    const titles = new Map(this.#viewer.tracks.all.map((track) => [track.name, titleOf(track)]));
    for (const [name, track] of this.#small) {
      if (several && sources.has(name)) continue;
      track.end();
      this.#small.delete(name);
    }
    this.#root.hidden = !several;
    document.getElementById("stage").toggleAttribute("data-beside", several && this.#isBeside);
    if (!several) return;
    const { shown } = this.#viewer.tracks;
    for (const [index, name] of names.entries()) {
      let track = this.#small.get(name);
      if (!track) {
        track = new SmallTrack(name, sources.get(name), this.#viewer, () => {
          this.#choose(name);
          // The button that had the focus is hidden now.
          if (this.#isBeside) this.#list.querySelector("li:not([hidden]) button")?.focus();
        });
        this.#small.set(name, track);
        // The stream of the large picture may come before the list of tracks.
        if (name === shown && this.#stream) track.mirror(this.#stream);
      }
      // Moving what is in its place already would take the focus from it.
      const { [index]: there = null } = this.#list.children;
      if (there !== track.root) this.#list.insertBefore(track.root, there);
      track.show(name === shown, this.#isPinned(name), titles.get(name));
      track.root.hidden = this.#isBeside && name === shown;
      const own = this.#viewer.tracks.own.get(name);
      if (own && name !== shown) track.reflect(own);
      else if (name !== shown && this.#isOpen && this.#host) track.watch(this.#host);
      else track.rest(name !== shown && this.#host !== null);
    }
    this.#list.hidden = !this.#isOpen;
    this.#beside.setAttribute("aria-pressed", String(this.#isBeside));
    relabel(this.#toggle, this.#isOpen ? words.hideTracks : words.showTracks);
    this.#toggle.setAttribute("aria-expanded", String(this.#isOpen));
  }
}

/** The small picture of one track. */
class SmallTrack {
  root;
  source;

  #name;
  #viewer;
  #button;
  #video = element("video", "", { playsinline: "", "aria-hidden": "true" });
  #state = element("span", "state");
  #caption;
  #reception = null;
  #retry = null;

  constructor(name, source, viewer, onChoose) {
    this.#name = name;
    this.#viewer = viewer;
    this.source = source ?? "live";
    this.#video.muted = true;
    this.#caption = element("span", "name", {}, name);
    this.#button = element("button", "track", { type: "button" }, this.#video, this.#caption, this.#state);
    this.#button.addEventListener("click", onChoose);
    this.root = element("li", "", {}, this.#button);
    this.#draw();
  }

  /** Sets whether this track is the large one now, whether the user has pinned it, and its title. */
  show(isShown, isPinned, name) {
    setText(this.#caption, name);
    this.#button.setAttribute("aria-pressed", String(isShown));
    this.#button.toggleAttribute("data-pinned", isPinned);
    const shown = isPinned ? words.pinnedTrack(name) : words.shownTrack(name);
    relabel(this.#button, isShown ? shown : words.showTrack(name));
  }

  /** Shows `stream`: its own, or that of the large picture, unless that is a Media Source, which plays in one place. */
  mirror(stream) {
    this.#video.srcObject = stream instanceof MediaStream ? stream : null;
    this.#video.play()?.catch(() => {});
  }

  /** Shows `stream`, which this page itself sends. */
  reflect(stream) {
    if (this.#video.srcObject === stream) return;
    this.rest(true);
    this.mirror(stream);
  }

  /** Receives the track from `host`, unless it already does. */
  watch(host) {
    if (this.#reception || this.#retry !== null) return;
    const { browser, link, relays } = this.#viewer;
    // Only the large picture comes over the WebSocket; the host would refuse each offer.
    if (!browser.hasH264) return;
    const say = (eventName, data) => this.#viewer.send(eventName, { ...data, socketId: host, track: this.#name });
    const way = {
      offer: ({ type, sdp }) => say("__offer", { sdp: { type, sdp } }),
      candidate: ({ candidate, sdpMLineIndex, sdpMid }) =>
        say("__ice_candidate", { candidate, label: sdpMLineIndex, id: sdpMid }),
    };
    const only = (action) => (...values) => {
      if (this.#reception === reception) action(...values);
    };
    const reception = new Reception(way, this.#name, { browser, link, relays }, {
      onStream: only((stream) => this.mirror(stream)),
      // A still or paused screen may have no frame yet; its state says why.
      onConnected: only(() => reception.arrived()),
      onFailure: only(() => this.#again(host)),
      onOtherWay: only(() => {
        this.#reception = null;
        this.watch(host);
      }),
    });
    this.#reception = reception;
    reception.open();
  }

  /** Stops receiving. `tells`: whether the host must be told. */
  rest(tells = false) {
    clearTimeout(this.#retry);
    this.#retry = null;
    if (!this.#reception) return;
    this.#reception.close();
    this.#reception = null;
    this.#video.srcObject = null;
    if (tells) this.#viewer.send("__unwatch", { track: this.#name });
  }

  heard(name, data) {
    if (name === "_state") {
      this.source = String(data.source ?? "live");
      this.#draw();
    } else if (name === "_refused" || (name === "_session_ended" && this.#reception?.isAnswered)) {
      if (this.#reception) this.#again(data.socketId);
    } else {
      this.#reception?.heard(name, data);
    }
  }

  end() {
    this.rest();
    this.root.remove();
  }

  #again(host) {
    this.rest();
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.watch(host);
    }, RETRY_AFTER);
  }

  #draw() {
    setText(this.#state, words.trackState[this.source] ?? "");
    this.#button.dataset.source = this.source;
  }
}
