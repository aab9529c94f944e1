// The devices of our part in a meeting: chosen before it, changed during it, and gone.

import assert from "node:assert/strict";
import test from "node:test";

import { camera, FakeDevices, microphone, settled, speaker } from "../fakes/devices.mjs";
import { FakeContext } from "../fakes/choosing.mjs";
import { FakeElement } from "../fakes/fakeelement.mjs";
import { meet } from "../fakes/meeting.mjs";
import { choiceWords } from "../../../../Sources/Rooms/Viewer/page/choice/choicewords.js";
import { en as words } from "../../../../Sources/Rooms/Viewer/page/meeting/meetwords.js";

const { notes } = choiceWords.en;
const BOTH = ["audio", "video"];
const used = (connection) => BOTH.map((kind) => connection.sender(kind).track?.device.deviceId ?? null);

/** The user chooses another device of a list. */
async function pick(list, id) {
  list.value = id;
  list.dispatchEvent(new Event("change"));
  await settled();
}

test("nothing is sent before the user has seen the picture and starts, with the room's size and frame rate", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"));
  const page = meet({ camera: { width: 640, height: 360, frameRate: 15 } });
  const joining = page.meeting.join(BOTH);
  await settled();
  assert.equal(page.meeting.facts.state, "choosing");
  assert.deepEqual(devices.requests[0].video, { width: { ideal: 640 }, height: { ideal: 360 }, frameRate: { ideal: 15 } });
  assert.ok(page.offer.hidden && page.part("video").srcObject.getTracks()[0].device.deviceId === "a");
  assert.ok(page.part("level").value > 0.8);
  await pick(page.part("camera"), "b");
  assert.deepEqual([page.sent, page.meeting.facts.video], [[], false], "the others neither know nor see us");
  const connection = await page.enter();
  await joining;
  assert.deepEqual(page.sent, [["__meet", true]]);
  assert.deepEqual(used(connection), ["m", "b"]);
  assert.ok(page.panel.hidden && !page.root.hidden && FakeContext.open === 0);
  assert.equal(document.activeElement, page.button("change"), "what had the focus is gone");
  page.meeting.leave();
  assert.deepEqual(devices.live, []);
  assert.deepEqual(devices.memory, { camera: "b" });
});

test("another camera and microphone are sent over the same connection, without negotiation", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"), microphone("n"));
  const page = meet();
  page.meeting.join(BOTH);
  await settled();
  const connection = await page.enter();
  page.button("change").click();
  assert.ok(!page.panel.hidden && page.part("start").hidden && FakeContext.open === 1);
  await pick(page.part("camera"), "b");
  await pick(page.part("microphone"), "n");
  assert.deepEqual([used(connection), connection.negotiations], [["n", "b"], 0]);
  assert.deepEqual(devices.live.map(({ device }) => device.deviceId), ["b", "n"], "the former ones are released");
  page.part("cancel").click();
  assert.ok(page.panel.hidden && FakeContext.open === 0);
  assert.equal(document.activeElement, page.button("change"));
  page.meeting.leave();

  // The next meeting begins with them.
  const next = meet();
  next.meeting.join(BOTH);
  await settled();
  assert.deepEqual(used(await next.enter()), ["n", "b"]);
  next.meeting.leave();
});

test("a camera that is turned off is released, and comes back as the chosen one; a silent microphone stays", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"), microphone("n"));
  devices.memory = { camera: "b" };
  const page = meet();
  page.meeting.join(BOTH);
  await settled();
  const connection = await page.enter();
  for (const kind of BOTH) page.button(kind).click();
  await settled();
  assert.deepEqual(used(connection), [null, null]);
  assert.deepEqual(devices.live.map(({ kind }) => kind), ["audio"]);
  page.button("change").click();
  assert.ok(page.part("camera").parentElement.hidden && page.part("video").hidden, "it isn't turned on by a choice");
  await pick(page.part("microphone"), "n");
  assert.deepEqual(used(connection), [null, null], "another microphone is silent as well");
  for (const kind of BOTH) page.button(kind).click();
  await settled();
  assert.deepEqual(used(connection), ["n", "b"]);
  page.meeting.leave();
});

test("a device that is unplugged gives way to another one, and the page says so; without any, the meeting goes on", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"));
  const page = meet();
  page.meeting.join(BOTH);
  await settled();
  const connection = await page.enter();
  devices.unplug("a");
  await settled();
  assert.deepEqual([used(connection), page.said], [["m", "b"], notes["lost-video"]]);
  assert.equal(connection.negotiations, 0);
  devices.unplug("m");
  await settled();
  assert.deepEqual([used(connection), page.said], [[null, "b"], notes["absent-audio"]]);
  devices.unplug("b");
  await settled();
  assert.deepEqual([used(connection), page.said], [[null, null], notes["absent-video"]]);
  assert.equal(page.meeting.facts.state, "on");
  devices.plug(camera("c"));
  await settled();
  page.button("video").click();
  await settled();
  assert.deepEqual([used(connection), page.said], [[null, "c"], ""]);
  devices.unplug("c");
  await settled();
  page.button("video").click();
  await settled();
  assert.equal(page.said, words.problems.missing);
  page.meeting.leave();
});

test("one of both is enough: without a camera, with a refused one, or by choice", async () => {
  const unseen = new FakeDevices(microphone("m"));
  const page = meet();
  page.meeting.join(BOTH);
  await settled();
  assert.deepEqual([page.part("note").textContent, page.part("start").disabled], [notes["absent-video"], false]);
  assert.deepEqual(used(await page.enter()), ["m", null]);
  page.meeting.leave();
  assert.deepEqual(unseen.live, []);

  for (const permissions of [{ camera: "denied", microphone: "prompt" }, null]) {
    const devices = new FakeDevices(camera("a"), microphone("m"));
    Object.assign(devices, { permissions, blocked: new Set(["video"]) });
    const refused = meet();
    refused.meeting.join(BOTH);
    await settled();
    assert.equal(refused.part("note").textContent, notes["refused-video"]);
    assert.deepEqual(devices.requests.map((wanted) => Object.keys(wanted)), [["video", "audio"], ["audio"]]);
    refused.meeting.leave();
  }

  const devices = new FakeDevices(camera("a"), microphone("m"));
  const heard = meet();
  heard.invite(1).click();
  await settled();
  assert.ok(heard.part("video").hidden && heard.part("camera").parentElement.hidden);
  const connection = await heard.enter();
  assert.deepEqual(devices.requests.map((wanted) => Object.keys(wanted)), [["audio"]]);
  heard.button("video").click();
  await settled();
  assert.deepEqual(used(connection), ["m", "a"]);
  heard.meeting.leave();
});

test("cancelling, closing the panel, refusals and a host that is gone leave no device open, and can be tried again", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"));
  const page = meet();
  const ways = [
    () => page.part("cancel").click(), () => page.meeting.toggle(),
    () => page.panel.dispatchEvent(Object.assign(new Event("keydown"), { key: "Escape" })),
    () => document.dispatchEvent(new CustomEvent("panelopened", { detail: new FakeElement("section") })),
  ];
  for (const way of ways) {
    if (page.panel.hidden) page.meeting.toggle();
    page.invite(0).click();
    await settled();
    assert.equal(devices.live.length, 2);
    way();
    await settled();
    assert.deepEqual([page.meeting.facts.state, devices.live, page.place.children], ["off", [], []]);
  }
  devices.refusal = "NotAllowedError";
  await page.meeting.join(BOTH);
  assert.deepEqual([page.meeting.facts.problem, page.said], ["denied", words.problems.denied]);
  assert.deepEqual([page.sent, page.place.children], [[], []]);

  let isThere = false;
  const cut = meet({ load: async () => { if (!isThere) throw new TypeError("offline"); return new Promise(() => {}); } });
  await cut.meeting.join(BOTH);
  assert.equal(cut.said, words.problems.unloaded);
  isThere = true;
  cut.meeting.join(BOTH);
  assert.equal(cut.meeting.facts.state, "opening");
  cut.meeting.leave();
  assert.equal(cut.meeting.facts.state, "off");
});

test("the others are sent a small picture, whatever the camera's size", async () => {
  const devices = new FakeDevices({ ...camera("a"), width: 1280, height: 720 }, { ...camera("b"), width: 320, height: 240 });
  const page = meet();
  page.meeting.join(BOTH);
  await settled();
  const connection = await page.enter();
  const { encoding } = connection.sender("video");
  assert.deepEqual(encoding, { maxBitrate: 600_000, scaleResolutionDownBy: 2 });
  page.button("change").click();
  await pick(page.part("camera"), "b");
  assert.equal(connection.sender("video").encoding.scaleResolutionDownBy, 1);
  page.meeting.leave();
  assert.deepEqual(devices.live, []);
});

test("the others are heard on the chosen speaker, and on it again once it is back", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"), speaker("s"));
  devices.memory = { speaker: "s" };
  FakeElement.prototype.sinkId = "";
  FakeElement.prototype.setSinkId = async function setSinkId(id) {
    if (id && !devices.devices.some(({ deviceId }) => deviceId === id)) throw new DOMException("", "NotFoundError");
    this.sinkId = id;
  };
  const page = meet();
  page.meeting.join(BOTH);
  await settled();
  await page.enter();
  const [, other] = page.root.children[0].children;
  const [video] = other.children;
  assert.equal(video.sinkId, "s");
  devices.unplug("s");
  await settled();
  assert.equal(video.sinkId, "");
  devices.plug(speaker("s"));
  await settled();
  assert.equal(video.sinkId, "s");
  page.meeting.leave();
  delete FakeElement.prototype.setSinkId;
});
