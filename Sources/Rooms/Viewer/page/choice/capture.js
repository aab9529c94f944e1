// The camera and the microphone of a share or a meeting: opened, exchanged for others, and released.

import { facingOf } from "./facing.js";
import { isRefusal, refusedOne } from "./refusal.js";
import { keepDevices, recallDevices } from "./chosen.js";

const DEVICES = { video: "videoinput", audio: "audioinput", output: "audiooutput" };
const KINDS = ["video", "audio"];
const NAMES = { video: "camera", audio: "microphone" };
const MICROPHONE = { echoCancellation: true, noiseSuppression: true };
// A device that another track or program has may fail with either.
const BUSY = new Set(["NotReadableError", "AbortError"]);

const only = (deviceId) => (deviceId ? { deviceId: { exact: deviceId } } : {});

/**
 * The open devices. They are those that the user has chosen before, or the browser's default ones if those are gone.
 *
 * Handlers: onChange() when something else is to be drawn; onTrack(kind, track) when another track, or null, takes the
 * place of the former one, which is stopped when the returned promise ends; onEnded() when a device is gone that can't
 * be done without.
 */
export class Capture {
  /** By kind: what `getUserMedia` has opened, or null. */
  tracks = { video: null, audio: null };
  /** By kind, and for "output": the devices that there are. They have ids once the user has allowed one. */
  lists = { video: [], audio: [], output: [] };
  /** What the user is to be told: a key of `words.notes`, or "". */
  note = "";
  /** The kinds that the user has turned off, or hasn't asked for. */
  off;

  #basic;
  #needsCamera;
  #handlers;
  #attempts = { video: 0, audio: 0 };
  #isClosed = false;
  #listen = () => this.#list();

  /**
   * `camera`: {width, height, frameRate}, which is asked of the camera; `kinds`: what to open, "video" and "audio" or
   * one of them; `needsCamera`: whether a microphone alone isn't enough.
   */
  constructor(camera, handlers, { kinds = KINDS, needsCamera = true } = {}) {
    const size = Object.entries(camera).map(([name, ideal]) => [name, { ideal }]);
    this.#basic = { video: Object.fromEntries(size), audio: MICROPHONE };
    this.#handlers = handlers;
    this.#needsCamera = needsCamera;
    this.off = new Set(KINDS.filter((kind) => !kinds.includes(kind)));
  }

  /** Opens the devices as far as there are any: at least one that is enough. Throws what `getUserMedia` throws. */
  async open() {
    navigator.mediaDevices.addEventListener?.("devicechange", this.#listen);
    await this.#list();
    const kinds = KINDS.filter((kind) => !this.off.has(kind));
    const { stream, refused } = await this.#openFirst(this.#wishes(kinds));
    for (const track of stream?.getTracks() ?? []) this.#take(track.kind, track);
    if (this.#isClosed) return;
    const absent = kinds.find((kind) => !this.tracks[kind]);
    if (absent) this.note = refused ? `refused-${refused}` : `absent-${absent}`;
    this.#noteMissed(["audio", "video"]);
    // The devices have names now.
    await this.#list();
  }

  /**
   * Releases the device of this kind, or opens the chosen one again; if that is gone, another one. Returns whether that
   * was done, and no later choice has come in between. Throws what `getUserMedia` throws.
   */
  async turn(kind, isOn) {
    const attempt = ++this.#attempts[kind];
    this.note = "";
    let track = null;
    if (isOn) {
      const { stream } = await this.#openFirst(this.#wishes([kind]));
      if (this.#isClosed || attempt !== this.#attempts[kind]) {
        stream?.getTracks().forEach(release);
        return false;
      }
      this.off.delete(kind);
      [track] = stream.getTracks();
    } else {
      this.off.add(kind);
    }
    await this.#take(kind, track);
    if (isOn) this.#noteMissed([kind]);
    await this.#list();
    return true;
  }

  /** Uses the device with this id from now on. */
  async choose(kind, id) {
    const isOpen = await this.#exchange(kind, only(id));
    if (isOpen) keepDevices(kind === "video" ? { camera: id, facing: undefined } : { microphone: id });
  }

  /** Uses the camera on the other side of a phone from now on. */
  async flip() {
    const facing = this.facing === "environment" ? "user" : "environment";
    const isOpen = await this.#exchange("video", { facingMode: { exact: facing } });
    if (isOpen) keepDevices({ facing, camera: undefined });
  }

  /** Releases the devices, and those that the browser still asks for. */
  close() {
    this.#isClosed = true;
    navigator.mediaDevices.removeEventListener?.("devicechange", this.#listen);
    for (const kind of KINDS) {
      const track = this.tracks[kind];
      this.tracks[kind] = null;
      if (track) release(track);
    }
  }

  /** Whether what is open is enough. */
  get isReady() {
    return this.tracks.video !== null || (!this.#needsCamera && this.tracks.audio !== null);
  }

  /** The id of the device that is used, or "". */
  selected(kind) {
    return this.tracks[kind]?.getSettings().deviceId ?? "";
  }

  /** The side that the camera faces: "user", "environment", or "" if that isn't known. */
  get facing() {
    const id = this.selected("video");
    return this.tracks.video?.getSettings().facingMode ?? facingOf(this.lists.video.find((one) => one.deviceId === id));
  }

  /** Whether there are cameras on both sides. */
  get canFlip() {
    const sides = this.lists.video.map(facingOf);
    return sides.includes("user") && sides.includes("environment");
  }

  /** Says so if another device is used than the chosen one. */
  #noteMissed(kinds) {
    const chosen = recallDevices();
    for (const kind of kinds) {
      const id = chosen[NAMES[kind]];
      if (id && this.tracks[kind] && this.selected(kind) !== id) this.note = `missed-${kind}`;
    }
  }

  /**
   * What to ask for, best first. Without the chosen camera the default one is used, then any other, because the default
   * one may be in use; then one of both kinds alone.
   */
  #wishes(kinds) {
    const { camera, microphone, facing } = recallDevices();
    const first = facing ? { facingMode: { exact: facing } } : only(camera);
    const cameras = unique([first, {}, ...this.lists.video.map(({ deviceId }) => only(deviceId))]);
    const microphones = unique([only(microphone), {}]);
    const silent = cameras.map((video) => ({ video }));
    const unseen = microphones.map((audio) => ({ audio }));
    if (kinds.length === 1) return kinds[0] === "video" ? silent : unseen;
    const both = silent.flatMap(({ video }) => [...microphones.map((audio) => ({ video, audio })), { video }]);
    return this.#needsCamera ? both : [...both, ...unseen];
  }

  /**
   * Returns the stream of the first of these wishes that can be had, and the kind that the browser has refused
   * meanwhile, or null. The stream is null if the devices have been released meanwhile.
   */
  async #openFirst(wishes) {
    let refused = null;
    let last = null;
    for (const wish of wishes) {
      if (this.#isClosed) break;
      if (refused && wish[refused]) continue;
      try {
        return { stream: await this.#ask(wish), refused };
      } catch (problem) {
        last = problem;
        if (!isRefusal(problem)) continue;
        // The user has answered: asking again would only annoy. But the browser says no to both if only one is blocked.
        refused = wish.video && wish.audio ? await refusedOne(this.#needsCamera) : null;
        if (!refused) throw problem;
      }
    }
    if (this.#isClosed) return { stream: null, refused };
    throw last;
  }

  /** Opens the devices of `wish`, constraints by kind. Returns null if all have been released meanwhile. */
  async #ask(wish) {
    const wanted = Object.entries(wish).map(([kind, one]) => [kind, { ...this.#basic[kind], ...one }]);
    const stream = await navigator.mediaDevices.getUserMedia(Object.fromEntries(wanted));
    if (!this.#isClosed) return stream;
    stream.getTracks().forEach(release);
    return null;
  }

  /** Opens another device instead of the one that is used. Returns whether it is used now. */
  async #exchange(kind, wish) {
    const attempt = ++this.#attempts[kind];
    const former = this.tracks[kind];
    // Some phones end a camera when another one is opened.
    if (former) former.onended = null;
    this.note = "";
    let stream = null;
    let problem = null;
    try {
      stream = await this.#ask({ [kind]: wish }).catch((reason) => {
        if (!BUSY.has(reason.name) || former?.readyState !== "live") throw reason;
        // Other phones open only one at a time.
        former.stop();
        return this.#ask({ [kind]: wish });
      });
    } catch (reason) {
      problem = reason;
    }
    if (this.#isClosed) return false;
    if (attempt !== this.#attempts[kind]) {
      stream?.getTracks().forEach(release);
      return false;
    }
    if (stream) {
      await this.#take(kind, stream.getTracks()[0]);
      await this.#list();
      return true;
    }
    if (former?.readyState === "live") this.#follow(kind, former);
    else if (former) await this.#replace(kind, former.getSettings().deviceId);
    this.note = isRefusal(problem) ? "refused" : `unopened-${kind}`;
    this.#handlers.onChange();
    return false;
  }

  #follow(kind, track) {
    track.onended = async () => {
      if (this.tracks[kind] !== track) return;
      await this.#replace(kind, "");
    };
  }

  /** A device is gone: uses the device with this id instead, else the default one, if it can be opened. */
  async #replace(kind, id) {
    const attempt = ++this.#attempts[kind];
    const others = this.lists[kind].map(({ deviceId }) => only(deviceId));
    const wishes = unique([only(id), {}, ...others]).map((wish) => ({ [kind]: wish }));
    const { stream } = await this.#openFirst(wishes).catch(() => ({ stream: null }));
    if (this.#isClosed) return;
    if (attempt !== this.#attempts[kind]) return stream?.getTracks().forEach(release);
    if (!stream && kind === "video" && this.#needsCamera) return this.#handlers.onEnded();
    await this.#take(kind, stream?.getTracks()[0] ?? null);
    this.note = stream ? `lost-${kind}` : `absent-${kind}`;
    await this.#list();
  }

  async #take(kind, track) {
    const former = this.tracks[kind];
    this.tracks[kind] = track;
    if (track) this.#follow(kind, track);
    try {
      await this.#handlers.onTrack(kind, track);
    } finally {
      // Whatever happens to the new one: nothing else releases this one.
      if (former) release(former);
    }
  }

  async #list() {
    const all = await navigator.mediaDevices.enumerateDevices().catch(() => []);
    if (this.#isClosed) return;
    for (const [kind, name] of Object.entries(DEVICES)) {
      this.lists[kind] = all.filter((device) => device.kind === name && device.deviceId);
    }
    this.#handlers.onChange();
  }
}

function release(track) {
  track.onended = null;
  track.stop();
}

/** Leaves out constraints that are there already. */
function unique(constraints) {
  return [...new Map(constraints.map((one) => [JSON.stringify(one), one])).values()];
}
