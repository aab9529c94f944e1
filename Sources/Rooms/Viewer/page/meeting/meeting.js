// The meeting: members with a camera or microphone connect to each other, each pair over its own connection.

import { Devices, lackOfDevices } from "./devices.js";
import { cleanName } from "../element.js";
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
  /** "off", "opening" (the browser is asking for the devices), "joining" or "on". */
  state = "off";
  /** The problem with the devices: a key of `words.problems`, or "". */
  problem = "";

  #viewer;
  #pace;
  #attempts = 0;
  #peers = new Map();
  #devices = new Devices(() => this.#lost());
  #view;

  constructor(viewer) {
    this.#viewer = viewer;
    this.#pace = new Pace((eventName, data) => viewer.send(eventName, data));
    viewer.addEventListener("left", () => this.#pace.clear());
    viewer.addEventListener("joined", () => this.#entered());
    viewer.addEventListener("change", () => this.#follow());
    for (const name of EVENTS) viewer.addEventListener(name, ({ detail }) => this.#heard(name, detail));
    this.#view = new MeetingView({
      onJoin: (kinds) => this.join(kinds),
      onLeave: () => this.leave(),
      onTurn: (kind, on) => this.#turn(kind, on),
    });
    this.#draw();
    // The page has joined the room before this was loaded.
    this.#view.available(!viewer.isOver);
  }

  /** A read-only view for tests and the console. */
  get facts() {
    const peers = [...this.#peers].map(([id, { name, peer }]) =>
      Object.freeze({ id, name, state: peer.state, audio: peer.gives("audio"), video: peer.gives("video") }));
    const { audio, video } = this.#devices.tracks;
    return Object.freeze({
      state: this.state,
      problem: this.problem,
      audio: audio !== null,
      video: video !== null,
      peers: Object.freeze(peers),
    });
  }

  /** Shows or hides the meeting, or the invitation to it. Returns false if there is no room to meet in. */
  toggle() {
    return this.#view.toggle();
  }

  /** Opens devices of `kinds` at the user's request, and joins the meeting. */
  async join(kinds) {
    if (this.state !== "off") return;
    this.state = "opening";
    this.problem = "";
    this.#draw();
    this.#attempts += 1;
    const attempt = this.#attempts;
    const problem = await this.#devices.open(kinds);
    // We have left meanwhile, and with that closed what this attempt has opened.
    if (attempt !== this.#attempts || this.state !== "opening") return;
    if (problem) {
      this.state = "off";
      this.problem = problem;
    } else {
      const { audio, video } = this.#devices.tracks;
      if (kinds.includes("video") && !video) this.problem = "noCamera";
      if (kinds.includes("audio") && !audio) this.problem = "noMicrophone";
      this.state = "joining";
      this.#pace.say("__meet", { on: true });
    }
    this.#draw();
  }

  leave() {
    if (this.state === "off") return;
    if (this.state !== "opening") this.#pace.say("__meet", { on: false });
    this.#end("");
  }

  #entered() {
    if (this.state === "joining" || this.state === "on") this.#pace.say("__meet", { on: true });
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
      else if (data.reason && (this.state === "joining" || this.state === "on")) this.#end("full");
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
    if (this.state !== "joining" && this.state !== "on") return;
    // Connect to everybody again: for the others we are a new member.
    for (const id of this.#peers.keys()) this.#remove(id);
    this.state = "on";
    for (const other of Array.isArray(connections) ? connections : []) this.#add(other, true);
    this.#draw();
  }

  #end(problem) {
    this.state = "off";
    this.problem = problem;
    for (const id of this.#peers.keys()) this.#remove(id);
    this.#devices.close();
    this.#draw();
  }

  #add({ socketId, name }, isLater) {
    if (typeof socketId !== "string" || this.#peers.size >= MOST_PEERS) return;
    this.#remove(socketId);
    // Members of a meeting are seldom in one network, so they ask the servers at once.
    const iceServers = this.#viewer.relays.all;
    const peer = new MeshPeer({ own: this.#devices.tracks, isLater, iceServers }, {
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
    const problem = await this.#devices.turn(kind, on);
    this.problem = problem ?? "";
    this.#giveAll();
  }

  #lost() {
    this.problem = "unplugged";
    this.#giveAll();
  }

  #giveAll() {
    const tracks = this.#devices.tracks;
    for (const { peer } of this.#peers.values()) {
      for (const kind of ["audio", "video"]) peer.give(kind, tracks[kind]);
    }
    this.#draw();
  }

  #draw() {
    this.#view.draw({
      state: this.state,
      lack: lackOfDevices(),
      problem: this.problem,
      own: this.#devices.tracks,
      others: [...this.#peers].map(([id, { name, peer }]) => ({ id, name, peer })),
    });
  }
}
