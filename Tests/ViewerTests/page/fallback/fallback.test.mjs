// What the page does for the shown track while pictures come over its WebSocket.

import assert from "node:assert/strict";
import test from "node:test";

import "../fakes/browser.mjs";
import { Fallback } from "../../../../Sources/Rooms/Viewer/page/fallback/fallback.js";
import { ShownTrack } from "../../../../Sources/Rooms/Viewer/page/picture/shown.js";

const HOST = "h";

class FakeSignalling {
  host = HOST;
  sent = [];
  send(name) { this.sent.push(name); }
}

class FakeAttempt {
  isConnected = false;
  isAnswered = false;
  isClosed = false;
  constructor(signalling) { this.signalling = signalling; }
  open() { this.signalling.send("__offer"); }
  heard() {}
  close() { this.isClosed = true; }
}

/** What a reception asks of the page's video. */
const video = () => Object.assign(new EventTarget(), { muted: true, volume: 1, error: null, srcObject: null });

const messages = { lostConnection: () => ({}), noAnswer: () => ({}) };

/** A track that is shown over the WebSocket `signalling`, while another attempt to find a path is under way. */
function shownWithAttempt(context, signalling) {
  let time = performance.now();
  context.mock.method(performance, "now", () => time);
  const stage = { video: video(), hold() {} };
  const viewer = { browser: { hasH264: false, isFirefox: false }, link: {}, isPlayBlocked: false };
  const failures = [];
  const shown = new ShownTrack(viewer, stage, {
    onTold() {}, onNegotiation() {}, onFailure: (reason) => failures.push(reason),
  });
  const attempts = [];
  const page = {
    video: stage.video, messages, attempt: null, failure: {},
    make: () => attempts.push(new FakeAttempt(shown.signalling)) && attempts.at(-1),
  };
  const reception = new Fallback(signalling, null, page, {
    onStream() {}, onConnected() {}, onPresented() {}, onPath() {}, onFailure: (reason) => failures.push(reason),
  });
  shown.signalling = signalling;
  shown.reception = reception;
  reception.heard("_frames", {});
  reception.hasPicture = true;
  time += 60_000;
  reception.tryAgain();
  return { shown, reception, attempt: attempts[0], attempts, failures };
}

const peers = (watching) => ({ host: HOST, tracks: [{ name: "desk" }], watching });

test("pictures are asked for by the connection that has taken the place of a dead one", (context) => {
  const [dead, next] = [new FakeSignalling(), new FakeSignalling()];
  const { shown, reception, attempt, failures } = shownWithAttempt(context, dead);
  assert.equal(dead.sent.join(), "__offer");
  shown.signalling = next;
  shown.heard("_peers", peers(["desk"]));
  // The host sends the track by the attempt's session.
  assert.equal(shown.reception, reception);
  assert.equal(reception.signalling, next);
  assert.equal(attempt.signalling, next);
  reception.attempted(attempt, "failure", {});
  assert.ok(attempt.isClosed);
  assert.equal(next.sent.join(), "__frames");
  // Confirmations go the same way.
  reception.heard("_frames", {});
  reception.take(Uint8Array.from([1, 0, 0, 0, 0, 0, 0, 1, 0, 6, 10, 24, 30, 139, 64, 1, 9]).buffer);
  assert.ok(next.sent.includes("__frames_seen"));
  reception.close();
  assert.equal(next.sent.at(-1), "__frames_stop");
  assert.equal(dead.sent.join(), "__offer");
  assert.equal(failures.length, 0);
});

test("the session of an attempt that was given up on a dead connection brings no pictures", (context) => {
  const [dead, next] = [new FakeSignalling(), new FakeSignalling()];
  const { shown, reception, attempt } = shownWithAttempt(context, dead);
  reception.attempted(attempt, "failure", {});
  assert.equal(dead.sent.join(), "__offer,__frames");
  shown.signalling = next;
  shown.heard("_peers", peers(["desk"]));
  assert.notEqual(shown.reception, reception);
  assert.equal(next.sent[0], "__unwatch");
  shown.leave();
});

test("an attempt that gives way to another one, by servers, is followed by that", (context) => {
  const { reception, attempt, attempts } = shownWithAttempt(context, new FakeSignalling());
  reception.attempted(attempt, "otherWay");
  assert.equal(attempts.length, 2);
  reception.attempted(attempt, "failure", {});
  assert.ok(reception.hasAttempt && !attempts[1].isClosed);
  reception.attempted(attempts[1], "failure", {});
  assert.ok(!reception.hasAttempt && attempts[1].isClosed);
  reception.close();
});

test("an answer that comes without a reception starts nothing", (context) => {
  const timers = [];
  context.mock.method(globalThis, "setTimeout", (action) => timers.push(action));
  const stage = { video: video(), hold() {} };
  const shown = new ShownTrack({ browser: { hasH264: true } }, stage, { onTold() {}, onNegotiation() {} });
  shown.signalling = new FakeSignalling();
  shown.heard("_answer", { socketId: HOST, sdp: {} });
  for (const action of timers) action();
  assert.equal(shown.reception, null);
});
