// Our own camera and microphone. They are opened only when the user asks for it.

const CAMERA = { width: { ideal: 640 }, height: { ideal: 360 }, frameRate: { ideal: 24, max: 30 } };
const MICROPHONE = { echoCancellation: true, noiseSuppression: true };
const CONSTRAINTS = { audio: MICROPHONE, video: CAMERA };
const DEVICES = { audio: "audioinput", video: "videoinput" };

/**
 * Returns why this page can't use a camera or microphone in a meeting: "noWebRTC", "insecure", "unsupported", or null if
 * it may ask for them.
 */
export function lackOfDevices() {
  if (typeof RTCPeerConnection !== "function") return "noWebRTC";
  if (navigator.mediaDevices?.getUserMedia) return null;
  return window.isSecureContext ? "unsupported" : "insecure";
}

/** The camera and microphone of this page. `onLost(kind)` is called when one of them ends on its own. */
export class Devices {
  #tracks = { audio: null, video: null };
  #isOn = { audio: false, video: false };
  #closed = 0;
  #onLost;

  constructor(onLost) {
    this.#onLost = onLost;
  }

  /** What the others receive now: {audio, video}, each a track or null. */
  get tracks() {
    const track = (kind) => (this.#isOn[kind] ? this.#tracks[kind] : null);
    return { audio: track("audio"), video: track("video") };
  }

  /**
   * Opens devices of these kinds ("audio", "video"), as far as they exist and the browser allows it. Returns the
   * problem ("noWebRTC", "insecure", "unsupported", "denied", "missing", "busy"), or null if at least one is open.
   */
  async open(kinds) {
    const lack = lackOfDevices();
    if (lack) return lack;
    const closed = this.#closed;
    const present = await presentKinds(kinds);
    if (present.length === 0) return "missing";
    let problem = await this.#ask(present, closed);
    // Perhaps only the camera was denied or is in use.
    if (problem && present.length > 1) problem = await this.#ask(["audio"], closed);
    return problem;
  }

  /**
   * Turns a device on or off. The camera is released when off, so that its light goes out; the microphone stays open
   * but silent. Returns the same as `open`.
   */
  async turn(kind, on) {
    if (!on) {
      this.#isOn[kind] = false;
      if (kind === "video") this.#stop(kind);
      return null;
    }
    if (!this.#tracks[kind]) return await this.open([kind]);
    this.#isOn[kind] = true;
    return null;
  }

  /** Releases all devices, and those that the browser still asks for. */
  close() {
    this.#closed += 1;
    for (const kind of ["audio", "video"]) this.#stop(kind);
  }

  /** `closed` tells whether all devices have been released since the user asked. */
  async #ask(kinds, closed) {
    if (closed !== this.#closed) return null;
    try {
      const wanted = Object.fromEntries(kinds.map((kind) => [kind, CONSTRAINTS[kind]]));
      const stream = await navigator.mediaDevices.getUserMedia(wanted);
      for (const track of stream.getTracks()) {
        if (closed === this.#closed) this.#take(track);
        else track.stop();
      }
      return null;
    } catch (problem) {
      return reason(problem);
    }
  }

  #take(track) {
    const kind = track.kind;
    this.#stop(kind);
    this.#tracks[kind] = track;
    this.#isOn[kind] = true;
    track.onended = () => {
      if (this.#tracks[kind] !== track) return;
      this.#stop(kind);
      this.#onLost(kind);
    };
  }

  #stop(kind) {
    const track = this.#tracks[kind];
    this.#tracks[kind] = null;
    this.#isOn[kind] = false;
    track?.stop();
  }
}

/** Returns those of `kinds` that exist. If a request includes a missing device, the browser grants none at all. */
async function presentKinds(kinds) {
  try {
    const devices = await navigator.mediaDevices.enumerateDevices();
    return kinds.filter((kind) => devices.some((device) => device.kind === DEVICES[kind]));
  } catch {
    return kinds;
  }
}

function reason({ name }) {
  if (name === "NotAllowedError" || name === "SecurityError") return "denied";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "missing" : "busy";
}
