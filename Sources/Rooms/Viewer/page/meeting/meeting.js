// The meeting: members with a camera or microphone connect to each other, each pair over its own connection.

import { cleanName } from "../element.js";
import { lackOfDevices, reason } from "./lacking.js";
import { MeetingView } from "./meetingview.js";
import { MeshPeer } from "./meshpeer.js";
import { Pace } from "./pace.js";

const MOST_PEERS = 32;
const EVENTS = ["_meeting", "_new_peer", "_remove_peer", "_offer", "_answer", "_ice_candidate"];

/**
 * Our part in the meeting. It outlives the WebSocket: the others remain visible and audible while the page joins the
 * room again, and the connections are made again afterwards.
 */
export class Meeting {
  /** "off", "opening" (the choice of devices is loading), "choosing" (the user chooses them), "joining" or "on". */
  state = "off";
  /** The problem with the devices: a key of `words.problems`, or "". */
  problem = "";

  #viewer;
  #turns;
  #loadChoice;
  #pace;
  #peers = new Map();
  /** The devices and their panel: a `DeviceChoice`, or null. */
  #choice = null;
  /** Counts attempts to join, and the ends of them. */
  #attempts = 0;
  /** Whether the microphone stays silent. It stays open, so that it is there at once. */
  #isMuted = false;
  #view;

  /** `turns`: the `Turns` of `viewer`, which has what to ask of the camera; `loadChoice()`: a promise of choice.js. */
  constructor(viewer, turns, loadChoice) {
    this.#viewer = viewer;
    this.#turns = turns;
    this.#loadChoice = loadChoice;
    this.#pace = new Pace((eventName, data) => viewer.send(eventName, data));
    viewer.addEventListener("left", () => this.#pace.clear());
    viewer.addEventListener("joined", () => this.#entered());
    viewer.addEventListener("change", () => this.#follow());
    for (const name of EVENTS) viewer.addEventListener(name, ({ detail }) => this.#heard(name, detail));
    this.#view = new MeetingView({
      onJoin: (kinds) => this.join(kinds),
      onLeave: () => this.leave(),
      onTurn: (kind, on) => this.#turn(kind, on),
      onChange: () => this.#choice?.unfold(),
      onFold: () => this.#fold(),
    });
    this.#draw();
    // The page has joined the room before this was loaded.
    this.#view.available(!viewer.isOver);
  }

  /** A read-only view for tests and the console. */
  get facts() {
    const peers = [...this.#peers].map(([id, { name, peer }]) =>
      Object.freeze({ id, name, state: peer.state, audio: peer.gives("audio"), video: peer.gives("video") }));
    const { audio, video } = this.#own;
    return Object.freeze({
      state: this.state,
      problem: this.problem,
      note: this.#choice?.note ?? "",
      audio: audio !== null,
      video: video !== null,
      peers: Object.freeze(peers),
    });
  }

  /** Shows or hides the meeting, or the invitation to it. Returns false if there is no room to meet in. */
  toggle() {
    return this.#view.toggle();
  }

  /** Lets the user choose devices of `kinds` ("audio", "video"), and joins the meeting with them. */
  async join(kinds) {
    if (this.state !== "off" || lackOfDevices()) return;
    this.state = "opening";
    this.problem = "";
    this.#isMuted = false;
    this.#attempts += 1;
    const attempt = this.#attempts;
    this.#draw();
    let problem = "";
    let isChosen = false;
    try {
      isChosen = await this.#chooseDevices(kinds, attempt);
    } catch (failure) {
      problem = reason(failure);
    }
    // It has been cancelled meanwhile, and with that what this attempt has opened was closed.
    if (attempt !== this.#attempts) return;
    if (!isChosen) return this.#end(problem);
    this.state = "joining";
    this.#pace.say("__meet", { on: true });
    this.#draw();
  }

  leave() {
    if (this.state === "off") return;
    if (this.#isIn) this.#pace.say("__meet", { on: false });
    this.#end("");
  }

  /** Returns whether the user has started. */
  async #chooseDevices(kinds, attempt) {
    const file = await this.#loadChoice().catch(() => {
      throw new DOMException("", "NetworkError");
    });
    if (attempt !== this.#attempts) return false;
    this.#choice = new file.DeviceChoice(this.#view.place, this.#turns.camera ?? {}, {
      onTrack: () => this.#giveAll(),
      onEnded() {},
      onOpen: (isOpen) => this.#view.showDevices(isOpen),
      onNote: () => this.#draw(),
    }, { id: "meet-choice", kinds, needsCamera: false });
    this.state = "choosing";
    this.#draw();
    return (await this.#choice.choose()) !== null;
  }

  /** The user has closed the panel. Devices mustn't stay open that nobody sees. */
  #fold() {
    if (this.state === "opening" || this.state === "choosing") this.leave();
    else this.#choice?.fold();
  }

  /** Whether the others know us as a member of the meeting. */
  get #isIn() {
    return this.state === "joining" || this.state === "on";
  }

  /** What the others receive now: {audio, video}, each a track or null. */
  get #own() {
    const { audio = null, video = null } = (this.#isIn && this.#choice?.tracks) || {};
    return { audio: this.#isMuted ? null : audio, video };
  }

  #entered() {
    if (this.#isIn) this.#pace.say("__meet", { on: true });
    this.#view.available(true);
  }

  /** Leaves the meeting if the page has been removed from the room, because it is then no longer told who is in it. */
  #follow() {
    if (!this.#viewer.isOver) return;
    // If the share has ended it may begin again, and the meeting continues meanwhile.
    if (this.#viewer.phase === "ended" && this.state !== "off") return;
    if (this.state !== "off") this.#end("");
    this.#view.available(false);
  }

  #heard(name, data) {
    const peer = this.#peers.get(data.socketId)?.peer;
    if (name === "_meeting") {
      if (data.on === true) this.#begin(data.connections);
      // Without a reason this is the reply to our leaving.
      else if (data.reason && this.#isIn) this.#end("full");
    } else if (name === "_new_peer") {
      if (this.state === "on") this.#add(data, false);
    } else if (name === "_remove_peer") {
      this.#remove(data.socketId);
    } else if (name === "_offer" && data.sdp) {
      peer?.offered(data.sdp);
    } else if (name === "_answer" && data.sdp) {
      peer?.answered(data.sdp);
    } else if (name === "_ice_candidate" && data.candidate) {
      peer?.candidate({ candidate: data.candidate, sdpMLineIndex: data.label ?? null, sdpMid: data.id ?? null });
    }
  }

  #begin(connections) {
    // We have cancelled joining before the reply came.
    if (!this.#isIn) return;
    // Connect to everybody again: for the others we are a new member.
    for (const id of this.#peers.keys()) this.#remove(id);
    this.state = "on";
    for (const other of Array.isArray(connections) ? connections : []) this.#add(other, true);
    this.#draw();
  }

  #end(problem) {
    this.state = "off";
    this.problem = problem;
    this.#attempts += 1;
    for (const id of this.#peers.keys()) this.#remove(id);
    const choice = this.#choice;
    this.#choice = null;
    // The focus has left the panel when that is removed.
    this.#draw();
    choice?.close();
  }

  #add({ socketId, name }, isLater) {
    if (typeof socketId !== "string" || this.#peers.size >= MOST_PEERS) return;
    this.#remove(socketId);
    // Members of a meeting are seldom in one network, so they ask the servers at once.
    const iceServers = this.#viewer.relays.all;
    const peer = new MeshPeer({ own: this.#own, isLater, iceServers }, {
      send: (eventName, data) => this.#pace.say(eventName, { ...data, socketId }),
      onChanged: () => this.#draw(),
    });
    this.#peers.set(socketId, { peer, name: cleanName(name) });
    this.#draw();
  }

  #remove(id) {
    const other = this.#peers.get(id);
    if (!other) return;
    this.#peers.delete(id);
    other.peer.close();
    this.#draw();
  }

  async #turn(kind, on) {
    const choice = this.#choice;
    if (!choice) return;
    this.problem = "";
    try {
      // The camera is released, so that its light goes out.
      if (kind === "video" || !choice.tracks.audio) await choice.turn(kind, on);
      if (kind === "audio") this.#isMuted = !on;
    } catch (failure) {
      if (choice === this.#choice) this.problem = reason(failure);
    }
    await this.#giveAll();
  }

  /** Returns once the others are no longer sent what they were. */
  async #giveAll() {
    this.#draw();
    const own = this.#own;
    const peers = [...this.#peers.values()];
    await Promise.all(peers.flatMap(({ peer }) => ["audio", "video"].map((kind) => peer.give(kind, own[kind]))));
  }

  #draw() {
    this.#view.draw({
      state: this.state,
      lack: lackOfDevices(),
      problem: this.problem,
      note: this.#choice?.note ?? "",
      own: this.#own,
      others: [...this.#peers].map(([id, { name, peer }]) => ({ id, name, peer })),
    });
  }
}
