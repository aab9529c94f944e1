// What the page sends into the room, and what of it viewers see large.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";
import { byPreference, credentials, Publication } from "../../../Sources/Rooms/Viewer/page/present/publication.js";
import { leaveMark, takeMark } from "../../../Sources/Rooms/Viewer/page/present/mark.js";
import {
  cameraBits, lackOf, reason, screenWishes,
} from "../../../Sources/Rooms/Viewer/page/present/presenting.js";
import { presentWords } from "../../../Sources/Rooms/Viewer/page/present/presentwords.js";
import { isPresented, titleOf } from "../../../Sources/Rooms/Viewer/page/meeting/meetingwords.js";
import { chinese } from "../../../Sources/Rooms/Viewer/page/words/chinese.js";

const ADDRESS = "/whip/desk/screen-1";

/** A browser's connection, as far as a publication uses it. */
class FakeConnection {
  static last = null;
  connectionState = "new";
  localDescription = { sdp: "v=0 offer" };
  remote = null;
  isClosed = false;
  sent = [];
  /** The tracks that were sent instead of others; `failure` is why a track can't be. */
  replaced = [];
  failure = null;

  constructor() {
    FakeConnection.last = this;
  }

  addTransceiver(track, init) {
    this.sent.push({ kind: track.kind, ...init });
    const replaceTrack = async (other) => {
      if (this.isClosed || this.failure) throw this.failure ?? new Error("closed");
      this.replaced.push([track.kind, other]);
    };
    return { sender: { replaceTrack } };
  }

  async setLocalDescription() {}

  async setRemoteDescription(description) {
    this.remote = description;
  }

  enter(state) {
    this.connectionState = state;
    this.onconnectionstatechange();
  }

  close() {
    this.isClosed = true;
  }
}

/** Publishes a screen with sound to a host that answers with `status`. */
function publish(context, status = 201, tracks = [{ kind: "video" }, { kind: "audio" }]) {
  globalThis.RTCPeerConnection = FakeConnection;
  globalThis.location.href = "http://127.0.0.1:8080/";
  const requests = [];
  const answer = {
    ok: status < 300, status, headers: new Headers({ Location: `${ADDRESS}/secret` }), text: async () => "v=0 answer",
  };
  context.mock.method(globalThis, "fetch", async (address, init) => {
    requests.push({ address, isAnsweredBeforeClose: !FakeConnection.last.isClosed, ...init });
    return answer;
  });
  const told = [];
  const stream = { getTracks: () => tracks };
  const publication = new Publication(stream, {
    address: ADDRESS, headers: { Authorization: "Bearer token", "X-Visit": "visit" }, bits: 8_000_000, iceServers: [],
  }, { onConnected: () => told.push("connected"), onLost: (code) => told.push(code) });
  return { publication, requests, told, connection: FakeConnection.last };
}

test("a share is offered with the member's credentials, and its end has a reason", async (context) => {
  const { publication, requests, told, connection } = publish(context);
  await publication.open();
  const [post] = requests;
  assert.equal(`${post.method} ${post.address} ${post.body}`, `POST ${ADDRESS} v=0 offer`);
  assert.equal(post.headers.Authorization, "Bearer token");
  assert.equal(post.headers["X-Visit"], "visit");
  assert.equal(connection.remote.sdp, "v=0 answer");
  assert.ok(connection.sent.every(({ direction }) => direction === "sendonly"));
  assert.equal(connection.sent[0].sendEncodings[0].maxBitrate, 8_000_000);
  connection.enter("connected");
  await publication.end("ended");
  const last = requests.at(-1);
  assert.equal(`${last.method} ${last.address}`, `DELETE http://127.0.0.1:8080${ADDRESS}/secret`);
  assert.equal(last.headers["X-Ending"], "ended");
  assert.ok(last.keepalive && last.isAnsweredBeforeClose, "the host hears the reason first");
  assert.ok(connection.isClosed);
  await publication.end("closed");
  assert.equal(requests.length, 2);
  assert.deepEqual(told, ["connected"]);
});

test("a refused offer and a lost connection are told once, and nothing stays open", async (context) => {
  const refused = publish(context, 403);
  await refused.publication.open();
  assert.deepEqual(refused.told, [403]);
  assert.ok(refused.connection.isClosed && refused.requests.length === 1);
  const lost = publish(context);
  await lost.publication.open();
  lost.connection.enter("failed");
  lost.connection.enter("failed");
  assert.deepEqual(lost.told, [0]);
  assert.equal(lost.requests.at(-1).method, "DELETE");
  assert.equal(lost.requests.at(-1).headers["X-Ending"], "lost");
});

test("a host that doesn't answer within 30 s, as on a dead network, is a lost connection; one that is connected has time", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const dead = publish(context);
  let answer = null;
  context.mock.method(globalThis, "fetch", (_, { method }) => {
    if (method === "DELETE") dead.requests.push({ method });
    return new Promise((resume) => (answer = resume));
  });
  const opening = dead.publication.open();
  await Promise.resolve();
  context.mock.timers.tick(29_999);
  assert.deepEqual(dead.told, []);
  context.mock.timers.tick(1);
  assert.deepEqual([dead.told, dead.connection.isClosed], [[0], true]);
  // What the host has begun meanwhile is ended there.
  answer({ ok: true, headers: new Headers({ Location: `${ADDRESS}/secret` }) });
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual(dead.requests.map(({ method }) => method), ["DELETE"]);
  answer();
  await opening;

  const live = publish(context);
  await live.publication.open();
  live.connection.enter("connecting");
  live.connection.enter("connected");
  context.mock.timers.tick(3_600_000);
  live.connection.enter("disconnected");
  context.mock.timers.tick(4999);
  assert.deepEqual(live.told, ["connected"]);
  context.mock.timers.tick(1);
  assert.deepEqual(live.told, ["connected", 0]);
});

test("a share that the host has ended is closed without a request", async (context) => {
  const { publication, requests, connection } = publish(context);
  await publication.open();
  await publication.end(null);
  assert.ok(connection.isClosed);
  assert.deepEqual(requests.map(({ method }) => method), ["POST"]);
});

test("a share that ends while the host answers is ended there, with the reason of its end", async (context) => {
  for (const ending of ["stopped", "lost", "closed"]) {
    const { publication, requests, connection } = publish(context);
    const opening = publication.open();
    await publication.end(ending);
    await opening;
    assert.deepEqual(requests.map(({ method }) => method), ["POST", "DELETE"]);
    assert.equal(requests[1].headers["X-Ending"], ending);
    assert.equal(connection.remote, null);
  }
});

test("another device's track goes over the same connection, and only missing sound needs another one", async (context) => {
  const { publication, connection, requests } = publish(context);
  await publication.open();
  const track = { kind: "video" };
  assert.equal(await publication.replace("video", track), true);
  assert.deepEqual(connection.replaced, [["video", track]]);
  assert.equal(await publication.replace("audio", null), true);
  connection.failure = new Error("other codec");
  assert.equal(await publication.replace("video", track), false);
  await publication.end("stopped");
  assert.equal(await publication.replace("video", track), true, "the next session begins with it");
  assert.deepEqual(requests.map(({ method }) => method), ["POST", "DELETE"]);
  const silent = publish(context, 201, [{ kind: "video" }]).publication;
  assert.equal(await silent.replace("audio", null), true);
  assert.equal(await silent.replace("audio", { kind: "audio" }), false);
});

test("a camera's bit rate follows what is asked of it", () => {
  assert.equal(cameraBits({ width: 1280, height: 720, frameRate: 30 }), 2_500_000);
  assert.equal(cameraBits({ width: 640, height: 360, frameRate: 30 }), 625_000);
  assert.equal(cameraBits({ width: 4096, height: 4096, frameRate: 60 }), 8_000_000);
  assert.equal(cameraBits({ width: 16, height: 16, frameRate: 1 }), 300_000);
});

test("why a camera isn't shared is one sentence in each language", () => {
  const names = ["NotAllowedError", "NotFoundError", "NotReadableError", "NetworkError"];
  for (const { problems } of Object.values(presentWords)) {
    const said = names.map((name) => problems[reason("camera", name)]);
    assert.equal(new Set(said).size, names.length);
    for (const text of said) assert.match(text, /[.。]$/);
  }
  assert.equal(reason("screen", "NotReadableError"), "busy");
});

test("H.264 comes first, Constrained Baseline before other profiles", () => {
  const codec = (mimeType, sdpFmtpLine) => ({ mimeType, sdpFmtpLine });
  const sorted = byPreference([
    codec("video/VP8"), codec("video/H264", "packetization-mode=0;profile-level-id=42e01f"),
    codec("video/H264", "packetization-mode=1;profile-level-id=640c34"), codec("video/rtx"),
    codec("video/H264", "packetization-mode=1;profile-level-id=42e01f"),
  ]);
  assert.deepEqual(sorted.map(({ mimeType, sdpFmtpLine = "" }) => mimeType + sdpFmtpLine.slice(-6)), [
    "video/H26442e01f", "video/H264640c34", "video/H26442e01f", "video/VP8", "video/rtx",
  ]);
});

test("the token and the password are those of the link", () => {
  const link = { room: "desk,tok en", name: "desk" };
  assert.deepEqual(credentials({ link, introduction: {}, visit: "v" }), {
    "X-Visit": "v", Authorization: "Bearer tok en",
  });
  assert.deepEqual(credentials({ link: { room: "desk", name: "desk" }, introduction: { password: "ü" }, visit: "v" }), {
    "X-Visit": "v", "X-Room-Password": "%C3%BC",
  });
});

test("a reloaded page shares under the same names, and a copy of its tab under others", () => {
  const kept = new Map();
  Object.defineProperty(globalThis, "sessionStorage", {
    configurable: true,
    value: {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => kept.set(key, value),
      removeItem: (key) => kept.delete(key),
    },
  });
  const mark = takeMark();
  assert.match(mark, /^[0-9a-f]{8}$/);
  leaveMark(mark);
  assert.equal(takeMark(), mark);
  assert.notEqual(takeMark(), mark);
  leaveMark("../evil");
  assert.match(takeMark(), /^[0-9a-f]{8}$/);
});

test("what a browser can't share has a reason that people are told", () => {
  const browser = (mediaDevices, isSecureContext) => {
    for (const [name, of, value] of [
      ["mediaDevices", globalThis.navigator, mediaDevices], ["isSecureContext", globalThis, isSecureContext],
    ]) Object.defineProperty(of, name, { configurable: true, value });
  };
  globalThis.RTCPeerConnection = FakeConnection;
  browser({ getUserMedia() {} }, true);
  assert.deepEqual(["screen", "camera"].map(lackOf), ["unsupported", null]);
  browser(undefined, false);
  assert.deepEqual(["screen", "camera"].map(lackOf), ["insecure", "insecure"]);
  delete globalThis.RTCPeerConnection;
  assert.equal(lackOf("screen"), "noWebRTC");
  for (const reason of ["unsupported", "insecure", "noWebRTC"]) assert.ok(presentWords.en.problems[reason]);
});

test("a screen is asked for with its sound and its pointer", () => {
  const wishes = screenWishes(true);
  assert.equal(wishes.video.cursor, "always");
  assert.equal(wishes.systemAudio, "include");
  assert.ok(wishes.audio && wishes.video.frameRate.ideal > screenWishes(false).video.frameRate.ideal);
});

test("a presented track has its presenter's name", () => {
  const screen = { name: "screen-1", data: { presenter: "Ann\u202e" }, text: "Ann" };
  assert.ok(isPresented(screen) && !isPresented({ name: "desk" }) && !isPresented({ name: "a", data: 1 }));
  assert.equal(titleOf(screen), "Ann: screen");
  assert.equal(titleOf({ name: "camera-1", data: { presenter: "" } }), "Camera");
  assert.equal(titleOf({ name: "desk", text: "Slides" }), "Slides");
  assert.equal(titleOf({ name: "desk" }), "desk");
});

test("each end of a share is told in Chinese too, with the name as it is", () => {
  const ends = [
    "Ann has stopped sharing", "Ann has ended sharing in the browser", "Ann has closed the page",
    "the browser of Ann has ended unexpectedly", "the connection to Ann was lost", "Ann was removed by the sharer",
    "the turn of Ann is over",
  ];
  const told = ends.map((text) => chinese.hostSays(text));
  assert.equal(new Set(told).size, ends.length);
  for (const text of told) assert.match(text, /Ann/);
  assert.doesNotMatch(chinese.hostSays("the presenter has closed the page"), /[a-z]/i);
});

test("both languages have the same words for it", () => {
  const keys = (value) => (typeof value === "object"
    ? Object.entries(value).map(([key, inner]) => [key, keys(inner)]) : typeof value);
  assert.deepEqual(keys(presentWords.en), keys(presentWords.zh));
  const text = JSON.stringify(Object.values(presentWords.zh)).replace(/WebRTC|https|null/g, "");
  assert.doesNotMatch(text.replace(/"[a-zA-Z]+":/g, ""), /[a-z]/i);
});
