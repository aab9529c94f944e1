// Publishes the user's screen and camera, each as a track of the room.

import { leaveMark, takeMark } from "./mark.js";
import { credentials, Publication } from "./publication.js";
import { PresentView } from "./presentview.js";

const KINDS = ["screen", "camera"];
const SCREEN_BITS = 8_000_000;
// Of a camera: as much as 1280x720 at 30 fps needs, by pixels per second.
const BITS_PER_PIXEL = 2_500_000 / (1280 * 720 * 30);
const LEAST_BITS = 300_000;
// These filters are for speech.
const SCREEN_SOUND = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;
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

/** Returns the maximum bit rate of a camera from which this size and frame rate are asked. */
export function cameraBits({ width, height, frameRate }) {
  return Math.min(SCREEN_BITS, Math.max(LEAST_BITS, Math.round(width * height * frameRate * BITS_PER_PIXEL)));
}

/** The shares of this page, at most one of each kind. They outlive the WebSocket, and are sent again after a failure. */
export class Presenting {
  #viewer;
  #turns;
  #loadChoice;
  #view;
  #shares = new Map();
  /** The problem with a kind: a key of `words.problems`. */
  #problems = new Map();
  /** Whether the host's share has ended, or we may not be in the room, and it hasn't let us in again. */
  #isOver;
  // The tracks have the same names again if the user shares again, so that viewers stay with them.
  #mark = takeMark();

  /** `turns`: the `Turns` of `viewer`; `loadChoice()` returns a promise of choice.js. */
  constructor(viewer, turns, loadChoice) {
    this.#viewer = viewer;
    this.#turns = turns;
    this.#loadChoice = loadChoice;
    this.#view = new PresentView({
      onTurn: (kind) => (this.#shares.has(kind) ? this.stop(kind) : this.start(kind)),
      onMotion: () => this.#hint(),
      onFold: () => this.#fold(),
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
    this.#isOver = viewer.isOver;
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

  /** Asks the user for a screen ("screen") or for camera and microphone ("camera"), and sends what the user chooses. */
  async start(kind) {
    if (this.#shares.has(kind) || lackOf(kind) || this.#isOver || !this.#turns.mayPresent) return;
    const share = {
      kind, state: "opening", choice: null, stream: null, publication: null, visit: null, timer: null, wait: FIRST_WAIT,
    };
    this.#shares.set(kind, share);
    this.#problems.delete(kind);
    this.#draw();
    try {
      share.stream = await (kind === "screen" ? this.#openScreen(share) : this.#chooseDevices(share));
    } catch ({ name }) {
      if (this.#shares.get(kind) === share) {
        this.#shares.delete(kind);
        // A user who closes the browser's list of screens needs no text that says so.
        if (kind === "camera" || name !== "NotAllowedError") this.#problems.set(kind, reason(kind, name));
      }
      this.#draw();
      release(share);
      return;
    }
    if (this.#shares.get(kind) !== share) return release(share);
    if (!share.stream) return this.stop(kind);
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
    // The next share has a panel of its own.
    share.choice?.close();
    clearTimeout(share.timer);
    await share.publication?.end(ending);
    release(share);
  }

  async #openScreen(share) {
    const stream = await navigator.mediaDevices.getDisplayMedia(screenWishes(this.#view.isMoving));
    stream.getVideoTracks()[0].onended = () => this.#ended(share);
    return stream;
  }

  /** Returns the stream of the devices with which the user starts, or null if the user cancels. */
  async #chooseDevices(share) {
    const file = await this.#loadChoice().catch(() => {
      throw new DOMException("", "NetworkError");
    });
    if (this.#shares.get(share.kind) !== share) return null;
    share.choice = new file.DeviceChoice(this.#view.place, this.#turns.camera, {
      onTrack: (kind, track) => this.#replace(share, kind, track),
      onEnded: () => this.#ended(share),
    });
    share.state = "choosing";
    this.#draw();
    return share.choice.choose();
  }

  #ended(share) {
    if (this.#shares.get(share.kind) === share) this.stop(share.kind, "ended");
  }

  /** Sends the track of another device, in the same track of the room. */
  async #replace(share, kind, track) {
    const { stream, publication } = share;
    for (const former of stream.getTracks()) {
      if (former.kind === kind) stream.removeTrack(former);
    }
    if (track) stream.addTrack(track);
    if (!publication || (await publication.replace(kind, track))) return;
    // The session has no sound yet, or can't send this. Another one continues the room's track.
    await publication.end("lost");
    if (this.#shares.get(share.kind) === share && share.publication === publication) this.#publish(share);
  }

  /** The panel has closed. Devices mustn't stay open that nobody sees. */
  #fold() {
    const share = this.#shares.get("camera");
    if (share?.state === "opening" || share?.state === "choosing") this.stop("camera");
    else share?.choice?.fold();
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
    const bits = share.kind === "screen" ? SCREEN_BITS : cameraBits(this.#turns.camera);
    const publication = new Publication(share.stream, {
      address, headers: credentials(viewer), bits, iceServers: viewer.relays.all,
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
    this.#isOver = false;
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
    // An ended share may begin again, and the user's shares are then sent again. Until then the user can stop them.
    if (phase !== "ended") this.#stopAll("stopped");
    if (this.#isOver) return;
    this.#isOver = true;
    for (const { kind, stream } of this.#shares.values()) if (!stream) this.stop(kind);
    this.#draw();
  }

  /** Sets the content hint of the screen's video. */
  #hint() {
    const [video] = this.#shares.get("screen")?.stream?.getVideoTracks() ?? [];
    if (video && "contentHint" in video) video.contentHint = this.#view.isMoving ? "motion" : "text";
  }

  #draw() {
    const states = Object.fromEntries([...this.#shares].map(([kind, { state }]) => [kind, state]));
    const lacks = new Map(KINDS.map((kind) => [kind, lackOf(kind)]));
    this.#view.draw(states, this.#problems, lacks, this.#turns, this.#isOver);
    this.#view.available(this.#shares.size > 0 || (!this.#isOver && this.#turns.own !== null));
    this.#viewer.tell("tracks", this.#viewer.tracks.all);
  }
}

function release({ stream, choice }) {
  choice?.close();
  for (const track of stream?.getTracks() ?? []) track.stop();
}

/** Returns why `kind` can't be shared: the key of `words.problems` for an error with this name. */
export function reason(kind, name) {
  const isCamera = kind === "camera";
  if (name === "NotAllowedError" || name === "SecurityError") return isCamera ? "cameraDenied" : "denied";
  if (name === "NotFoundError" || name === "OverconstrainedError") return isCamera ? "noCamera" : "missing";
  if (name === "NetworkError") return "unloaded";
  return isCamera ? "cameraBusy" : "busy";
}
