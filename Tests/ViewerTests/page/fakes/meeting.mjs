// A meeting with another member, for its tests: the room, the page around it and the connection.

import { FakeElement } from "./fakeelement.mjs";
import { settled } from "./devices.mjs";
import { find } from "./choosing.mjs";
import { DeviceChoice } from "../../../../Sources/Rooms/Viewer/page/choice/choice.js";
import { Meeting } from "../../../../Sources/Rooms/Viewer/page/meeting/meeting.js";

/** A connection that counts what would be negotiated. */
class FakeConnection {
  static all = [];
  negotiations = 0;
  connectionState = "new";
  signalingState = "stable";
  transceivers = [];

  constructor() {
    FakeConnection.all.push(this);
  }

  addTransceiver(what, { direction }) {
    const track = typeof what === "string" ? null : what;
    const sender = {
      track,
      encoding: {},
      replaceTrack: async (other) => {
        sender.track = other;
      },
      getParameters: () => ({ encodings: [{ ...sender.encoding }] }),
      setParameters: async ({ encodings: [encoding] }) => {
        sender.encoding = encoding;
      },
    };
    const owner = this;
    this.transceivers.push({
      sender,
      receiver: { track: { kind: track?.kind ?? what } },
      get direction() {
        return direction;
      },
      set direction(next) {
        direction = next;
        owner.negotiations += 1;
      },
    });
  }

  getTransceivers() {
    return this.transceivers;
  }

  /** What is sent of this kind: its sender. */
  sender(kind) {
    return this.transceivers.find(({ receiver }) => receiver.track.kind === kind).sender;
  }

  connect() {
    this.connectionState = "connected";
    this.onconnectionstatechange();
  }

  close() {}
}

/**
 * A page in a room whose cameras are asked for `camera`; `load` loads the choice of devices. It has `meeting`,
 * `part(id)` (an element of the choice), `button(name)` (of our own picture: "audio", "video", "leave" or "change"),
 * `invite(index)` (a button of the invitation), `sent`, and elements.
 */
export function meet({ camera = { width: 1280, height: 720, frameRate: 30 }, load } = {}) {
  FakeConnection.all = [];
  globalThis.RTCPeerConnection = FakeConnection;
  const panels = [];
  FakeElement.prototype.after = (panel) => panels.push(panel);
  FakeElement.prototype.classList = { toggle() {} };
  const places = new Map();
  document.getElementById = (id) => places.get(id) ?? places.set(id, new FakeElement("div")).get(id);
  const sent = [];
  const viewer = Object.assign(new EventTarget(), {
    isOver: false, phase: "playing", relays: { all: [] }, send: (name, data) => sent.push([name, data.on]),
  });
  const meeting = new Meeting(viewer, { camera }, load ?? (async () => ({ DeviceChoice })));
  const [panel] = panels;
  const [, offer, place] = panel.children;
  const root = document.getElementById("meeting");
  const controls = root.children[0].children[0].children.at(-1);
  return {
    meeting, panel, offer, place, root, viewer, sent,
    part: (id) => find(place, `meet-choice-${id}`),
    button: (name) => controls.children[["audio", "video", "leave", "change"].indexOf(name)],
    invite: (index) => offer.children[1].children[index],
    /** What the page says in the panel or beside the pictures. */
    get said() {
      const lines = [panel, root].flatMap(({ children }) => children);
      return lines.find(({ className }) => className === "problem").textContent;
    },
    /** The user starts with what the panel has, and another member is there; returns our connection to it. */
    async enter() {
      this.part("start").click();
      await settled();
      const data = { on: true, connections: [{ socketId: "other", name: "Ann" }] };
      viewer.dispatchEvent(new CustomEvent("_meeting", { detail: data }));
      FakeConnection.all[0].connect();
      await settled();
      return FakeConnection.all[0];
    },
  };
}
