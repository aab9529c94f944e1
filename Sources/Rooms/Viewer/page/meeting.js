// The meeting: who of the room has a camera or microphone on meets the others, each of them over a connection of their own.

import { Devices, lackOfDevices } from "./devices.js";
import { cleanName } from "./element.js";
import { MeetingView } from "./meetingview.js";
import { MeshPeer } from "./meshpeer.js";
import { Pace } from "./pace.js";

const MOST_PEERS = 32;
const EVENTS = ["_meeting", "_new_peer", "_remove_peer", "_offer", "_answer", "_ice_candidate"];

/**
 * Our part in the meeting. It outlives the WebSocket: who is met stays in sight and hearing while the page joins the room again,
 * and is met anew then.
 */
export class Meeting {
  /** "off", "opening" (the browser is asked for the devices), "joining" or "on". */
  state = "off";
  /** What there is to say of the devices: a key of the words' problems, or "". */
  problem = "";

  #viewer;
  #pace;
  #iceServers = [];
  #peers = new Map();
  #devices = new Devices(() => this.#lost());
  #view;

  constructor(viewer) {
    this.#viewer = viewer;
    this.#pace = new Pace((eventName, data) => viewer.send(eventName, data));
    viewer.addEventListener("left", () => this.#pace.clear());
    viewer.addEventListener("_peers", ({ detail }) => {
      this.#iceServers = Array.isArray(detail.iceServers) ? detail.iceServers : [];
    });
    viewer.addEventListener("joined", () => this.#entered());
    viewer.addEventListener("change", () => this.#follow());
    for (const name of EVENTS) viewer.addEventListener(name, ({ detail }) => this.#heard(name, detail));
    this.#view = new MeetingView({
      onJoin: (kinds) => this.join(kinds),
      onLeave: () => this.leave(),
      onTurn: (kind, on) => this.#turn(kind, on),
    });
    this.#draw();
  }

  /** What tests and curious people may read. */
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

  /** Shows it, or the way into it, or hides it; false where there is no room to meet in. */
  toggle() {
    return this.#view.toggle();
  }

  /** Opens devices of `kinds`, which somebody has asked for, and joins the meeting. */
  async join(kinds) {
    if (this.state !== "off") return;
    this.state = "opening";
    this.problem = "";
    this.#draw();
    const problem = await this.#devices.open(kinds);
    if (this.state !== "opening") {
      this.#devices.close();
      return;
    }
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

  /** Where the page has been turned out of the room, nobody tells it any more who meets. */
  #follow() {
    if (!this.#viewer.isOver) return;
    // A share that has ended may begin again, and those who meet go on meanwhile.
    if (this.#viewer.phase === "ended" && this.state !== "off") return;
    if (this.state !== "off") this.#end("");
    this.#view.available(false);
  }

  #heard(name, data) {
    const peer = this.#peers.get(data.socketId)?.peer;
    if (name === "_meeting") {
      if (data.on === true) this.#begin(data.connections);
      // Without a reason it is the answer to our leaving.
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
    // Asked for, and taken back before the answer.
    if (this.state !== "joining" && this.state !== "on") return;
    // All are met anew: to them this is somebody who has just come.
    for (const id of [...this.#peers.keys()]) this.#remove(id);
    this.state = "on";
    for (const other of Array.isArray(connections) ? connections : []) this.#add(other, true);
    this.#draw();
  }

  #end(problem) {
    this.state = "off";
    this.problem = problem;
    for (const id of [...this.#peers.keys()]) this.#remove(id);
    this.#devices.close();
    this.#draw();
  }

  #add({ socketId, name }, isLater) {
    if (typeof socketId !== "string" || this.#peers.size >= MOST_PEERS) return;
    this.#remove(socketId);
    const peer = new MeshPeer({ own: this.#devices.tracks, isLater, iceServers: this.#iceServers }, {
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
