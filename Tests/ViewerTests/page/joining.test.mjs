// How the page joins, and what outlives a dead connection.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";
import { fakeSockets } from "./fakes/fakesockets.mjs";
import { readLink } from "../../../Sources/Rooms/Viewer/page/join/link.js";
import { Recovery } from "../../../Sources/Rooms/Viewer/page/join/recovery.js";
import { Relays, waitBefore } from "../../../Sources/Rooms/Viewer/page/join/retry.js";
import { Signalling } from "../../../Sources/Rooms/Viewer/page/join/signalling.js";
import { TrackMemory } from "../../../Sources/Rooms/Viewer/page/join/trackmemory.js";
import { isDead, Visit } from "../../../Sources/Rooms/Viewer/page/join/visit.js";
import { TrackList } from "../../../Sources/Rooms/Viewer/page/meeting/tracklist.js";

test("a link's room is read as it was meant", () => {
  const read = (hash, hostname = "desk.example") =>
    readLink({ hash, hostname, host: hostname + ":8080", protocol: "https:" });
  const chinese = read("#%E6%88%BF%E9%97%B4,secret");
  assert.equal(chinese.name, "房间");
  assert.equal(chinese.room, "房间,secret");
  assert.equal(read("").name, "");
  assert.equal(read("#100%,x").name, "100%");
  assert.equal(chinese.socket, "wss://desk.example:8080/ws?room=%E6%88%BF%E9%97%B4");
  assert.equal(read("#a&b%2Csecret").socket, "wss://desk.example:8080/ws?room=a%26b");
  assert.equal(read("#a%252Csecret").socket, "wss://desk.example:8080/ws?room=a", "a link that was encoded twice");
  assert.ok(!chinese.isLoopback);
  assert.ok(read("#a", "[::1]").isLoopback);
  assert.ok(read("#a", "127.0.0.9").isLoopback);
  assert.ok(!read("#a", "127.example").isLoopback);
});

test("the first waits are short, and none is too long", () => {
  const waits = [0, 1, 12, 13, 14, 99].map((attempts) => Math.round(waitBefore(attempts, 0.5)));
  assert.equal(waits.join(), "0,500,500,1000,2000,10000");
  assert.ok(waitBefore(99, 1) <= 11_500);
});

test("an attempt comes after a wait, has its time, and comes sooner if the host can be reached", (context) => {
  let timers = [];
  context.mock.method(globalThis, "setTimeout", (action, delay) => {
    const timer = { action, delay };
    timers.push(timer);
    return timer;
  });
  context.mock.method(globalThis, "clearTimeout", (timer) => { timers = timers.filter((other) => other !== timer); });
  const reach = { await(reached) { this.reached = reached; }, stop() { this.reached = null; }, reached: null };
  let [attempts, failures] = [0, 0];
  const recovery = new Recovery(() => {
    attempts += 1;
    recovery.begin(() => { failures += 1; });
  }, reach);
  assert.ok(!recovery.isDue);
  recovery.schedule();
  assert.equal(timers.map(({ delay }) => delay).join(), "100");
  assert.ok(recovery.isDue);
  timers[0].action();
  // The attempt has taken the place of the wait.
  assert.equal(attempts, 1);
  assert.ok(!recovery.isDue);
  assert.equal(recovery.dueIn, null);
  assert.equal(timers.length, 1);
  timers[0].action();
  assert.equal(failures, 1);
  recovery.schedule();
  assert.equal(timers.length, 1);
  assert.ok(timers[0].delay > 400 && timers[0].delay < 600);
  // A scheduled attempt is made at once. One under way is replaced if it hasn't got through.
  recovery.awaitReach(() => true);
  reach.reached();
  assert.equal(attempts, 2);
  reach.reached();
  assert.equal(attempts, 2);
  recovery.awaitReach(() => false);
  reach.reached();
  assert.equal(attempts, 3);
  assert.equal(timers.length, 1);
  recovery.answered();
  assert.equal(timers.length, 0);
  recovery.succeeded();
  recovery.schedule();
  assert.equal(timers[0].delay, 100);
  recovery.awaitReach(() => true);
  recovery.stop();
  assert.equal(timers.length, 0);
  assert.equal(reach.reached, null);
});

test("the chosen track is shown while it is there", () => {
  const tracks = new TrackList();
  assert.equal(tracks.shown, null);
  assert.ok(tracks.isShown(undefined));
  assert.ok(tracks.isShown("x"));
  assert.ok(!tracks.told([{ name: "a" }, { name: "b" }, {}]));
  assert.equal(tracks.asked, "a");
  const chosen = tracks.choose("b") && tracks.asked === "b" && !tracks.isShown("a") && tracks.isShown();
  assert.ok(tracks.told([{ name: "a" }]));
  assert.equal(tracks.shown, "a");
  assert.equal(tracks.asked, null);
  assert.ok(chosen);
});

test("what a track sounds like is remembered for when it is shown", () => {
  const memory = new TrackMemory();
  memory.keep("_sound", { sound: "live" }, "a");
  memory.keep("_sound", { sound: "muted" }, "a");
  assert.deepEqual(memory.of("a"), [["_sound", { sound: "muted" }]]);
  assert.deepEqual(memory.of("b"), []);
});

test("the servers are for those who need them", () => {
  const relays = new Relays();
  relays.told(undefined);
  assert.equal(relays.all.length, 0);
  assert.equal(relays.servers.length, 0);
  relays.told([{ urls: ["stun:127.0.0.1:9"] }]);
  const told = relays.all.length === 1 && relays.servers.length === 0;
  relays.need();
  assert.equal(relays.servers.length, 1);
  relays.told("nonsense");
  assert.ok(told);
  assert.equal(relays.servers.length, 0);
});

test("another connection shows the secret of the last, and those before end when it is let in", () => {
  const closed = [];
  const make = (name, wasOpen) => ({
    wasOpen, resumption: `secret of ${name}`, setAside() {}, close: () => closed.push(name),
  });
  const visit = new Visit();
  assert.ok(!visit.mayGoOn);
  assert.ok(!("resume" in visit.introduction({ name: "Ann" })));
  const [first, failed, second] = [make("first", true), make("failed", false), make("second", true)];
  visit.letIn(first);
  const introduction = visit.introduction({ name: "Ann" });
  visit.isCutOff = true;
  visit.setAside(first);
  visit.setAside(failed);
  assert.equal(closed.join(), "failed");
  visit.letIn(second);
  assert.equal(closed.join(), "failed,first");
  assert.ok(!visit.isCutOff);
  visit.forget();
  assert.equal(introduction.resume, "secret of first");
  assert.equal(introduction.name, "Ann");
  assert.ok(!visit.mayGoOn);
});

test("a new visit shows the secret of the last one, by which a locked room knows the page, until it is let in", () => {
  const visit = new Visit();
  visit.forget();
  assert.deepEqual(visit.introduction({ name: "Ann" }), { name: "Ann" });
  visit.letIn({ resumption: "first" });
  for (const _ of [1, 2]) visit.forget();
  assert.deepEqual(visit.introduction({ name: "Bo" }), { name: "Bo", former: "first" });
  visit.letIn({ resumption: "second" });
  assert.deepEqual(visit.introduction({ name: "Bo" }), { name: "Bo", resume: "second" });
});

test("an answer may take longer where it comes behind pictures", () => {
  const asked = { pingAge: 3000 };
  const own = { isConnected: true };
  const behind = { isConnected: true, isByWebSocket: true };
  assert.ok(isDead(asked, own));
  assert.ok(!isDead(asked, behind));
  assert.ok(!isDead(asked, { isConnected: false }));
  assert.ok(!isDead(asked, null));
  assert.ok(isDead({ pingAge: 11_000 }, behind));
  assert.ok(!isDead({ pingAge: 0 }, own));
  assert.ok(!isDead(null, own));
});

test("a locked room and a refused wish to enter have ends of their own", (context) => {
  const sockets = fakeSockets(context);
  for (const [code, end] of [[4423, "onLocked"], [4424, "onTurnedAway"]]) {
    const ends = [];
    const told = (name) => () => ends.push(name);
    const handlers = { onMessage() {}, concerns: () => true, onLocked: told("onLocked"), onTurnedAway: told("onTurnedAway") };
    new Signalling("ws://127.0.0.1:9/ws", "desk", {}, handlers);
    const socket = sockets.at(-1);
    socket.open();
    socket.onmessage({ data: JSON.stringify({ eventName: "_refused", data: { reason: "the room is locked" } }) });
    socket.onclose({ code });
    socket.onclose({ code });
    assert.deepEqual(ends, [end]);
  }
});

test("a refusal with the code of the close is final at once, also if the close comes late or never", (context) => {
  const sockets = fakeSockets(context);
  const ends = [];
  const handlers = { onMessage() {}, concerns: () => true, onLocked: () => ends.push("onLocked"), onClosed: () => ends.push("onClosed") };
  const join = (data) => {
    new Signalling("ws://127.0.0.1:9/ws", "desk", {}, handlers);
    sockets.at(-1).open();
    sockets.at(-1).onmessage({ data: JSON.stringify({ eventName: "_refused", data }) });
  };
  join({ reason: "the room is locked", code: 4423 });
  assert.deepEqual(ends, ["onLocked"]);
  sockets.at(-1).onclose({ code: 1006 });
  assert.deepEqual(ends, ["onLocked"]);
  // A refusal without a reason, whose close was lost, is no final answer.
  join({});
  sockets.at(-1).onclose({ code: 1006 });
  assert.deepEqual(ends, ["onLocked", "onClosed"]);
});

test("an offer from before a wait to be let in is answered by none, and a later one is", (context) => {
  const sockets = fakeSockets(context);
  const heard = [];
  const signalling = new Signalling("ws://127.0.0.1:9/ws", "desk", {}, { onMessage: (name) => heard.push(name) });
  const [socket] = sockets;
  const tell = (eventName, data) => socket.onmessage({ data: JSON.stringify({ eventName, data }) });
  socket.open();
  signalling.offer({ type: "offer", sdp: "early" });
  tell("_waiting", {});
  tell("_peers", { host: "h", you: "y", tracks: [{ name: "screen" }] });
  signalling.offer({ type: "offer", sdp: "late" });
  tell("_answer", { socketId: "h", sdp: { type: "answer", sdp: "answer" } });
  assert.deepEqual(heard, ["_waiting", "_peers", "_answer"]);
});

test("a connection owes answers once it has let us in, until it is set aside", async (context) => {
  const sockets = fakeSockets(context);
  const signalling = new Signalling("ws://127.0.0.1:9/ws", "desk", {}, { onMessage() {}, onBinary() {} });
  const [socket] = sockets;
  const wait = () => new Promise((resume) => setTimeout(resume, 20));
  signalling.send("__clock", { t: 1 });
  socket.open();
  await wait();
  assert.equal(signalling.pingAge, 0);
  assert.equal(socket.sent.length, 2);
  socket.onmessage({ data: JSON.stringify({ eventName: "_peers", data: { host: "h", you: "y" } }) });
  signalling.send("__clock", { t: 2 });
  await wait();
  assert.ok(signalling.pingAge > 0);
  socket.onmessage({ data: new ArrayBuffer(8) });
  assert.equal(signalling.pingAge, 0);
  signalling.send("__clock", { t: 3 });
  await wait();
  assert.ok(signalling.pingAge > 0);
  signalling.setAside();
  assert.equal(signalling.pingAge, 0);
});
