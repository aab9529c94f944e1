// A camera's share, from the button to other devices and its end.

import assert from "node:assert/strict";
import test from "node:test";

import { FakeElement } from "../fakes/fakeelement.mjs";
import { camera, FakeDevices, microphone, settled } from "../fakes/devices.mjs";
import { Presenting } from "../../../../Sources/Rooms/Viewer/page/present/presenting.js";

/** A panel's choice, as the test settles it. */
class FakeChoice {
  static last = null;
  isClosed = false;
  folds = 0;

  constructor(place, asked, handlers) {
    Object.assign(this, { place, asked, handlers });
    FakeChoice.last = this;
  }

  choose() {
    return new Promise((resume, fail) => Object.assign(this, { resume, fail }));
  }

  fold() {
    this.folds += 1;
  }

  close() {
    this.isClosed = true;
  }
}

class FakeConnection {
  static all = [];
  connectionState = "new";
  localDescription = { sdp: "v=0" };
  isClosed = false;
  sent = [];

  constructor() {
    FakeConnection.all.push(this);
  }

  addTransceiver(track, { sendEncodings }) {
    const sender = { track, replaceTrack: async (other) => { sender.track = other; } };
    this.sent.push({ sender, kind: track.kind, bits: sendEncodings[0].maxBitrate });
    return { sender };
  }

  async setLocalDescription() {}

  async setRemoteDescription() {
    this.connectionState = "connected";
    this.onconnectionstatechange();
  }

  close() {
    this.isClosed = true;
  }
}

/** Presents in a room whose cameras are asked for 640x360 at 15 fps; `load` loads the choice. */
function present(context, load = async () => ({ DeviceChoice: FakeChoice })) {
  const devices = new FakeDevices(camera("a"), microphone("m"));
  FakeConnection.all = [];
  globalThis.RTCPeerConnection = FakeConnection;
  globalThis.location.href = "http://127.0.0.1/";
  const endings = [];
  context.mock.method(globalThis, "fetch", async (_, { method, headers }) => {
    if (method === "DELETE") endings.push(headers["X-Ending"]);
    return { ok: true, status: 201, headers: new Headers({ Location: "/whip/desk/x/y" }), text: async () => "v=0" };
  });
  FakeElement.prototype.after = function after() {};
  FakeElement.prototype.classList = { toggle() {} };
  const places = new Map();
  document.getElementById = (id) => places.get(id) ?? places.set(id, new FakeElement("div")).get(id);
  document.addEventListener = () => {};
  document.dispatchEvent = () => {};
  const viewer = Object.assign(new EventTarget(), {
    visit: "v", isOver: false, link: { room: "desk,t", name: "desk" }, introduction: {}, relays: { all: [] },
    tracks: { own: new Map(), all: [] }, tell() {}, send() {},
  });
  const turns = {
    own: "owner", end: NaN, members: [], mayPresent: true, requests: 0, camera: { width: 640, height: 360, frameRate: 15 },
  };
  return { presenting: new Presenting(viewer, turns, load), devices, endings, places, viewer };
}

/** Starts a share with the tracks of these constraints. */
async function begin(presenting, devices, wanted) {
  const sharing = presenting.start("camera");
  await settled();
  const stream = await devices.getUserMedia(wanted);
  FakeChoice.last.resume(stream);
  await sharing;
  await settled();
  return { choice: FakeChoice.last, stream };
}

test("what the user starts with is sent, at the room's format, and another camera over the same session", async (context) => {
  const { presenting, devices, endings } = present(context);
  const { choice, stream } = await begin(presenting, devices, { video: {}, audio: {} });
  assert.deepEqual(choice.asked, { width: 640, height: 360, frameRate: 15 });
  assert.equal(presenting.facts.camera, "live");
  const [connection] = FakeConnection.all;
  assert.equal(connection.sent[0].bits, 312_500);
  const [other] = (await devices.getUserMedia({ video: {} })).getTracks();
  await choice.handlers.onTrack("video", other);
  assert.equal(connection.sent[0].sender.track, other);
  assert.deepEqual(stream.getVideoTracks(), [other]);
  await choice.handlers.onTrack("audio", null);
  assert.equal(connection.sent[1].sender.track, null);
  assert.ok(FakeConnection.all.length === 1 && endings.length === 0);
  await presenting.stop("camera");
  assert.ok(choice.isClosed && connection.isClosed && other.readyState === "ended");
  assert.deepEqual(endings, ["stopped"]);
});

test("a microphone that comes during a silent share takes another session, for the same track", async (context) => {
  const { presenting, devices, endings } = present(context);
  const { choice } = await begin(presenting, devices, { video: {} });
  const [track] = (await devices.getUserMedia({ audio: {} })).getTracks();
  await choice.handlers.onTrack("audio", track);
  await settled();
  assert.deepEqual(endings, ["lost"]);
  assert.deepEqual(FakeConnection.all.map(({ isClosed }) => isClosed), [true, false]);
  assert.deepEqual(FakeConnection.all[1].sent.map(({ kind }) => kind), ["video", "audio"]);
  await presenting.stop("camera");
});

test("a cancelled choice leaves nothing behind, and closing the panel cancels it", async (context) => {
  const { presenting, places } = present(context);
  const sharing = presenting.start("camera");
  await settled();
  assert.equal(presenting.facts.camera, "choosing");
  const { last } = FakeChoice;
  last.resume(null);
  await sharing;
  assert.ok(last.isClosed && presenting.facts.camera === undefined);
  presenting.start("camera");
  await settled();
  assert.notEqual(FakeChoice.last, last);
  const button = places.get("meeting-controls").children.find((one) => one.id === "present");
  button.click();
  button.click();
  await settled();
  assert.ok(FakeChoice.last.isClosed && presenting.facts.camera === undefined);
  assert.equal(FakeConnection.all.length, 0);
});

test("closing the panel keeps a live share, and the end of its last camera ends it", async (context) => {
  const { presenting, devices, endings, places } = present(context);
  const { choice } = await begin(presenting, devices, { video: {}, audio: {} });
  const button = places.get("meeting-controls").children.find((one) => one.id === "present");
  button.click();
  button.click();
  assert.ok(choice.folds > 0 && !choice.isClosed && presenting.facts.camera === "live");
  choice.handlers.onEnded();
  await settled();
  assert.deepEqual(endings, ["ended"]);
  assert.equal(presenting.facts.camera, undefined);
});

test("why a camera isn't shared is told, also if the host can't be reached for the choice", async (context) => {
  const { presenting } = present(context);
  for (const [name, problem] of [["NotAllowedError", "cameraDenied"], ["NotFoundError", "noCamera"]]) {
    const sharing = presenting.start("camera");
    await settled();
    FakeChoice.last.fail(new DOMException("", name));
    await sharing;
    assert.deepEqual(presenting.facts.problems, [problem]);
    assert.ok(FakeChoice.last.isClosed);
  }
  const { presenting: cut } = present(context, async () => { throw new TypeError("offline"); });
  await cut.start("camera");
  assert.deepEqual(cut.facts.problems, ["unloaded"]);
});

test("after the host's share has ended, the button stays until the user has stopped what is shared", async (context) => {
  const { presenting, devices, places, viewer } = present(context);
  const { choice, stream } = await begin(presenting, devices, { video: {}, audio: {} });
  const button = places.get("meeting-controls").children.find((one) => one.id === "present");
  Object.assign(viewer, { isOver: true, phase: "ended", visit: null });
  viewer.dispatchEvent(new Event("change"));
  assert.ok(!button.hidden && presenting.facts.camera === "live" && !choice.isClosed);
  await presenting.start("screen");
  assert.equal(presenting.facts.screen, undefined, "nothing else is begun");
  await presenting.stop("camera");
  assert.ok(button.hidden && stream.getTracks().every(({ readyState }) => readyState === "ended"));
  Object.assign(viewer, { isOver: false, phase: "connecting", visit: "w" });
  viewer.dispatchEvent(new Event("_peers"));
  assert.ok(!button.hidden);
});

test("a choice of devices that is open when the host's share ends is cancelled", async (context) => {
  const { presenting, places, viewer } = present(context);
  presenting.start("camera");
  await settled();
  Object.assign(viewer, { isOver: true, phase: "ended" });
  viewer.dispatchEvent(new Event("change"));
  await settled();
  assert.ok(FakeChoice.last.isClosed && presenting.facts.camera === undefined);
  const button = places.get("meeting-controls").children.find((one) => one.id === "present");
  assert.ok(button.hidden);
});
