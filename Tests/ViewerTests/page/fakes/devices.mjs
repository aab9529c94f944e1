// Cameras, microphones and speakers as a browser shows them to a page.

import "./browser.mjs";

/** A track of a device. `unplug` ends it as a browser does. */
export class FakeTrack {
  readyState = "live";
  onended = null;

  constructor(device) {
    this.device = device;
    this.kind = device.kind === "videoinput" ? "video" : "audio";
    this.label = device.label;
  }

  getSettings() {
    const { deviceId, facingMode, width, height } = this.device;
    return { deviceId, ...(facingMode && { facingMode }), ...(width && { width, height }) };
  }

  stop() {
    this.readyState = "ended";
  }

  unplug() {
    this.readyState = "ended";
    this.onended?.();
  }
}

export class FakeStream {
  #tracks;

  constructor(tracks = []) {
    this.#tracks = [...tracks];
  }

  getTracks() {
    return [...this.#tracks];
  }

  getVideoTracks() {
    return this.#tracks.filter(({ kind }) => kind === "video");
  }

  addTrack(track) {
    this.#tracks.push(track);
  }

  removeTrack(track) {
    this.#tracks.splice(this.#tracks.indexOf(track), 1);
  }
}

/** The browser's `navigator.mediaDevices`. */
export class FakeDevices extends EventTarget {
  /** Whether the user has allowed a device, so that the list has ids and labels. */
  isAllowed = false;
  /** The name of the error with which every request fails, or "". */
  refusal = "";
  /** The kinds, "video" and "audio", that the browser refuses. */
  blocked = new Set();
  /** The states of the permissions "camera" and "microphone"; null in a browser that doesn't tell them. */
  permissions = { camera: "prompt", microphone: "prompt" };
  /** The ids of devices that another program uses. */
  busy = new Set();
  /** Whether only one camera can be open at a time. */
  hasOneCamera = false;
  opened = [];
  requests = [];

  constructor(...devices) {
    super();
    this.devices = devices;
    Object.defineProperty(globalThis.navigator, "mediaDevices", { configurable: true, value: this });
    const query = async ({ name }) => {
      if (!this.permissions) throw new TypeError(name);
      return { state: this.permissions[name] };
    };
    Object.defineProperty(globalThis.navigator, "permissions", { configurable: true, value: { query } });
    globalThis.MediaStream = FakeStream;
    this.kept = new Map();
    Object.defineProperty(globalThis, "localStorage", {
      configurable: true,
      value: { getItem: (key) => this.kept.get(key) ?? null, setItem: (key, value) => this.kept.set(key, value) },
    });
  }

  /** The tracks that are still open. */
  get live() {
    return this.opened.filter(({ readyState }) => readyState === "live");
  }

  /** What the page has kept. */
  get memory() {
    return JSON.parse(this.kept.get("screenrelay.devices") ?? "{}");
  }

  set memory(chosen) {
    this.kept.set("screenrelay.devices", JSON.stringify(chosen));
  }

  async enumerateDevices() {
    return this.devices.map((device) => (this.isAllowed ? device : { kind: device.kind, deviceId: "", label: "" }));
  }

  async getUserMedia(wanted) {
    this.requests.push(wanted);
    await Promise.resolve();
    if (this.refusal) throw new DOMException("", this.refusal);
    // A browser refuses both if one of them is blocked.
    const isBlocked = (kind) => this.blocked.has(kind);
    if (Object.keys(wanted).some(isBlocked)) throw new DOMException("", "NotAllowedError");
    this.isAllowed = true;
    const found = Object.entries(wanted).map(([kind, constraints]) => this.#find(`${kind}input`, constraints));
    const tracks = found.map((device) => new FakeTrack(device));
    this.opened.push(...tracks);
    return new FakeStream(tracks);
  }

  /** The device with this id appears, or goes and ends its tracks. */
  plug(device) {
    this.devices.push(device);
    this.dispatchEvent(new Event("devicechange"));
  }

  unplug(id) {
    this.devices = this.devices.filter(({ deviceId }) => deviceId !== id);
    this.dispatchEvent(new Event("devicechange"));
    for (const track of this.live) if (track.device.deviceId === id) track.unplug();
  }

  #find(kind, { deviceId, facingMode }) {
    const all = this.devices.filter((device) => device.kind === kind);
    if (all.length === 0) throw new DOMException("", "NotFoundError");
    const found = all.find((device) => (!deviceId || device.deviceId === deviceId.exact)
      && (!facingMode || device.facingMode === facingMode.exact));
    if (!found) throw new DOMException("", "OverconstrainedError");
    const isTaken = this.hasOneCamera && kind === "videoinput" && this.live.some((track) => track.kind === "video");
    if (isTaken || this.busy.has(found.deviceId)) throw new DOMException("", "NotReadableError");
    return found;
  }
}

export const camera = (deviceId, facingMode) => ({
  kind: "videoinput", deviceId, label: `camera ${deviceId}`, facingMode,
  getCapabilities: () => ({ facingMode: facingMode ? [facingMode] : [] }),
});
export const microphone = (deviceId) => ({ kind: "audioinput", deviceId, label: `microphone ${deviceId}` });
export const speaker = (deviceId) => ({ kind: "audiooutput", deviceId, label: `speaker ${deviceId}` });

/** Waits until all that was begun is done, as far as it takes no time. */
export const settled = () => new Promise((resume) => setImmediate(resume));
