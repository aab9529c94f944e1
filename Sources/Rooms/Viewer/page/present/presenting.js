// Publishes the user's screen and camera, each as a track of the room.

import { Publication } from "./publication.js";
import { PresentView } from "./presentview.js";

const KINDS = ["screen", "camera"];
const BITS = { screen: 8_000_000, camera: 2_500_000 };
const CAMERA = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
const MICROPHONE = { echoCancellation: true, noiseSuppression: true };
// These filters are for speech.
const SCREEN_SOUND = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;
const MARK_KEY = "screenrelay.mark";
// Statuses after which the same offer would be refused again.
const FINAL = new Set([400, 401, 403, 404, 415, 422]);

/** Returns why this page can't share `kind`: "noWebRTC", "insecure", "unsupported", or null if it may ask for it. */
export function lackOf(kind) {
  if (typeof RTCPeerConnection !== "function") return "noWebRTC";
  const devices = navigator.mediaDevices;
  if (kind === "screen" ? devices?.getDisplayMedia : devices?.getUserMedia) return null;
  return window.isSecureContext ? "unsupported" : "insecure";
}

/** Returns the options of `getDisplayMedia`. Browsers ignore unknown ones. */
export function screenWishes(isMoving) {
  return {
    video: { cursor: "always", displaySurface: "monitor", frameRate: { ideal: isMoving ? 60 : 30 } },
    audio: SCREEN_SOUND,
    systemAudio: "include",
    surfaceSwitching: "include",
    selfBrowserSurface: "exclude",
  };
}

/** Returns the headers of a WHIP request of this page (`Protocol/http.md`). */
export function credentials({ link, introduction, visit }) {
  const token = link.room.slice(link.name.length + 1).split(",", 1)[0];
  const headers = { "X-Visit": visit };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (introduction.password !== undefined) headers["X-Room-Password"] = encodeURIComponent(introduction.password);
  return headers;
}

/** Returns the suffix of this page's track names: the suffix from before a reload, or a new one. */
export function takeMark() {
  try {
    const mark = sessionStorage.getItem(MARK_KEY);
    // A copy of this tab must have another one.
    sessionStorage.removeItem(MARK_KEY);
    if (/^[0-9a-f]{8}$/.test(mark)) return mark;
  } catch {
    // Blocked storage: each page has its own.
  }
  return [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Leaves `mark` to the next page in this tab. */
export function leaveMark(mark) {
  try {
    sessionStorage.setItem(MARK_KEY, mark);
  } catch {
    // The next page then shares under other names.
  }
}

/** The shares of this page, at most one of each kind. They outlive the WebSocket, and are sent again after a failure. */
export class Presenting {
  #viewer;
  #turns;
  #view;
  #shares = new Map();
  /** The problem with a kind: a key of `words.problems`. */
  #problems = new Map();
  // The tracks have the same names again if the user shares again, so that viewers stay with them.
  #mark = takeMark();

  /** `turns`: the `Turns` of `viewer`. */
  constructor(viewer, turns) {
    this.#viewer = viewer;
    this.#turns = turns;
    this.#view = new PresentView({
      onTurn: (kind) => (this.#shares.has(kind) ? this.stop(kind) : this.start(kind)),
      onMotion: () => this.#hint(),
      onAct: (action, id) => this.#act(action, id),
    });
    viewer.addEventListener("_peers", () => this.#entered());
    viewer.addEventListener("_turn", () => this.#turned());
    viewer.addEventListener("_turns", () => this.#draw());
    viewer.addEventListener("change", () => this.#follow());
    window.addEventListener("pagehide", () => {
      this.#stopAll("closed");
      leaveMark(this.#mark);
    });
    this.#view.available(!viewer.isOver && turns.own !== null);
    this.#draw();
  }

  /** A read-only view for tests and the console. */
  get facts() {
    const shares = [...this.#shares].map(([kind, { state }]) => [kind, state]);
    const { own, members } = this.#turns;
    return Object.freeze({
      ...Object.fromEntries(shares), problems: Object.freeze([...this.#problems.values()]), turn: own,
      turns: Object.freeze(members.map(({ name, turn }) => `${name} ${turn}`)),
    });
  }

  /** Asks the user for a screen ("screen") or for camera and microphone ("camera"), and sends it. */
  async start(kind) {
    if (this.#shares.has(kind) || lackOf(kind) || !this.#turns.mayPresent) return;
    const share = { kind, state: "opening", stream: null, publication: null, visit: null, timer: null, wait: FIRST_WAIT };
    this.#shares.set(kind, share);
    this.#problems.delete(kind);
    this.#draw();
    try {
      share.stream = await this.#open(kind);
    } catch ({ name }) {
      if (this.#shares.get(kind) === share) this.#shares.delete(kind);
      // A user who closes the browser's list of screens needs no text that says so.
      if (kind === "camera" || name !== "NotAllowedError") this.#problems.set(kind, reason(name));
      this.#draw();
      return;
    }
    if (this.#shares.get(kind) !== share) return release(share);
    const [video] = share.stream.getVideoTracks();
    video.onended = () => {
      if (this.#shares.get(kind) === share) this.stop(kind, "ended");
    };
    this.#viewer.tracks.own.set(this.#track(kind), share.stream);
    this.#hint();
    this.#publish(share);
  }

  /** Stops sharing `kind`; `ending` as for `Publication.end`. */
  async stop(kind, ending = "stopped") {
    const share = this.#shares.get(kind);
    if (!share) return;
    this.#shares.delete(kind);
    this.#viewer.tracks.own.set(this.#track(kind), null);
    this.#draw();
    clearTimeout(share.timer);
    await share.publication?.end(ending);
    release(share);
  }

  #open(kind) {
    const devices = navigator.mediaDevices;
    if (kind === "screen") return devices.getDisplayMedia(screenWishes(this.#view.isMoving));
    // Without a microphone, a camera is shared without sound.
    return devices.getUserMedia({ video: CAMERA, audio: MICROPHONE })
      .catch(({ name }) => {
        if (name === "NotAllowedError") throw new DOMException("", name);
        return devices.getUserMedia({ video: CAMERA });
      });
  }

  #track(kind) {
    return `${kind}-${this.#mark}`;
  }

  /** Sends a share, as part of our present visit. */
  #publish(share) {
    const viewer = this.#viewer;
    const { visit } = viewer;
    clearTimeout(share.timer);
    share.state = "connecting";
    share.visit = visit;
    this.#draw();
    // It is sent as soon as the page has joined the room again.
    if (visit === null) return;
    const address = `/whip/${encodeURIComponent(viewer.link.name)}/${this.#track(share.kind)}`;
    const only = (action) => (status) => {
      if (share.publication === publication && this.#shares.get(share.kind) === share) action(status);
    };
    const publication = new Publication(share.stream, {
      address, headers: credentials(viewer), bits: BITS[share.kind], iceServers: viewer.relays.all,
    }, {
      onConnected: only(() => {
        share.state = "live";
        share.wait = FIRST_WAIT;
        this.#draw();
      }),
      onLost: only((status) => this.#lost(share, status)),
    });
    share.publication = publication;
    publication.open();
  }

  #lost(share, status) {
    if (FINAL.has(status)) {
      this.#problems.set(share.kind, "refused");
      this.stop(share.kind);
      return;
    }
    share.state = "connecting";
    share.timer = setTimeout(() => this.#publish(share), share.wait);
    share.wait = Math.min(LONGEST_WAIT, share.wait * 2);
    this.#draw();
  }

  /** The host has let us in, or another connection goes on with our visit. */
  async #entered() {
    this.#view.available(this.#turns.own !== null);
    this.#draw();
    for (const share of this.#shares.values()) {
      if (!this.#turns.mayPresent) this.stop(share.kind);
      else if (share.stream && share.visit !== this.#viewer.visit) {
        await share.publication?.end("lost");
        if (this.#shares.get(share.kind) === share) this.#publish(share);
      }
    }
  }

  /** Our turn has changed. If it is over, the host has ended what we have shared. */
  #turned() {
    if (!this.#turns.mayPresent) this.#stopAll(null);
    this.#view.available(this.#turns.own !== null);
    this.#draw();
    if (this.#turns.own === "granted") this.#view.open();
  }

  /** The user acts on a turn. An owner keeps the right to present, so for an owner handing over is two steps. */
  #act(action, id) {
    const isOwnerPassing = action === "pass" && this.#turns.own === "owner";
    if (isOwnerPassing) this.#stopAll("stopped");
    const target = id === undefined ? {} : { socketId: id };
    this.#viewer.send("__turn", { action: isOwnerPassing ? "allow" : action, ...target });
  }

  #stopAll(ending) {
    for (const kind of this.#shares.keys()) this.stop(kind, ending);
  }

  #follow() {
    const { isOver, phase } = this.#viewer;
    if (!isOver) return;
    this.#view.available(false);
    // An ended share may begin again, and the user's shares are then sent again.
    if (phase === "ended") return;
    this.#stopAll("stopped");
  }

  /** Sets the content hint of the screen's video. */
  #hint() {
    const [video] = this.#shares.get("screen")?.stream?.getVideoTracks() ?? [];
    if (video && "contentHint" in video) video.contentHint = this.#view.isMoving ? "motion" : "text";
  }

  #draw() {
    const states = Object.fromEntries([...this.#shares].map(([kind, { state }]) => [kind, state]));
    const lacks = new Map(KINDS.map((kind) => [kind, lackOf(kind)]));
    this.#view.draw(states, this.#problems, lacks, this.#turns);
    this.#viewer.tell("tracks", this.#viewer.tracks.all);
  }
}

function release({ stream }) {
  for (const track of stream?.getTracks() ?? []) track.stop();
}

function reason(name) {
  if (name === "NotAllowedError" || name === "SecurityError") return "denied";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "missing" : "busy";
}
