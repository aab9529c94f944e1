// Our own camera and microphone: opened when asked for, and never before.

const CAMERA = { width: { ideal: 640 }, height: { ideal: 360 }, frameRate: { ideal: 24, max: 30 } };
const MICROPHONE = { echoCancellation: true, noiseSuppression: true };
const CONSTRAINTS = { audio: MICROPHONE, video: CAMERA };
const DEVICES = { audio: "audioinput", video: "videoinput" };

/** Why no page, or not this one, gets a camera or a microphone: "insecure", "unsupported", or null where it may ask for them. */
export function lackOfDevices() {
  if (navigator.mediaDevices?.getUserMedia) return null;
  return window.isSecureContext ? "unsupported" : "insecure";
}

/** The camera and the microphone of this page. `onLost(kind)` is called when one ends by itself. */
export class Devices {
  #tracks = { audio: null, video: null };
  #isOn = { audio: false, video: false };
  #onLost;

  constructor(onLost) {
    this.#onLost = onLost;
  }

  /** What the others get now: {audio, video}, each a track or null. */
  get tracks() {
    const track = (kind) => (this.#isOn[kind] ? this.#tracks[kind] : null);
    return { audio: track("audio"), video: track("video") };
  }

  /**
   * Opens devices of these kinds ("audio", "video"), as many of them as there are and as the browser lets us.
   * Gives what went wrong ("insecure", "unsupported", "denied", "missing", "busy"), or null where one at least is open.
   */
  async open(kinds) {
    const lack = lackOfDevices();
    if (lack) return lack;
    const present = await presentKinds(kinds);
    if (present.length === 0) return "missing";
    let problem = await this.#ask(present);
    // The one that is refused or in use may be the camera alone.
    if (problem && present.length > 1) problem = await this.#ask(["audio"]);
    return problem;
  }

  /** Turns one on or off. Off lets the camera go, whose lamp says so; the microphone stays ours and silent. Gives as `open`. */
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

  /** Lets all of them go. */
  close() {
    for (const kind of ["audio", "video"]) this.#stop(kind);
  }

  async #ask(kinds) {
    try {
      const wanted = Object.fromEntries(kinds.map((kind) => [kind, CONSTRAINTS[kind]]));
      const stream = await navigator.mediaDevices.getUserMedia(wanted);
      for (const track of stream.getTracks()) this.#take(track);
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

/** Those of `kinds` of which there is a device here, for to ask for one that isn't there is to get none at all. */
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
