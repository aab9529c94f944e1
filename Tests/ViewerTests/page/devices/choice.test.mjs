// The panel in which a user chooses devices.

import assert from "node:assert/strict";
import test from "node:test";

import { FakeElement } from "../fakes/fakeelement.mjs";
import { camera, FakeDevices, microphone, settled, speaker } from "../fakes/devices.mjs";
import { DeviceChoice, SpeakerChoice } from "../../../../Sources/Rooms/Viewer/page/choice/choice.js";
import { canChooseSpeaker, hasSpeakers, playOnChosen } from "../../../../Sources/Rooms/Viewer/page/choice/output.js";
import { levelOf } from "../../../../Sources/Rooms/Viewer/page/choice/levelmeter.js";

const ASKED = { width: 1280, height: 720, frameRate: 30 };

FakeElement.prototype.play = async () => {};
document.head = new FakeElement("head");
document.querySelectorAll = () => [];

/** Finds what has this id in `root`. */
function find(root, id) {
  if (root.getAttribute("id") === id) return root;
  for (const child of root.children.filter((one) => one instanceof FakeElement)) {
    const found = find(child, id);
    if (found) return found;
  }
  return null;
}
document.getElementById = (id) => find(document.head, id);

/** An audio context whose microphone is at half its level. */
class FakeContext {
  static open = 0;

  constructor() {
    FakeContext.open += 1;
  }

  createAnalyser() {
    return { fftSize: 4, getFloatTimeDomainData: (samples) => samples.fill(0.5) };
  }

  createMediaStreamSource() {
    return { connect() {} };
  }

  async close() {
    FakeContext.open -= 1;
  }
}
globalThis.AudioContext = FakeContext;
globalThis.requestAnimationFrame = () => 1;
globalThis.cancelAnimationFrame = () => {};

/** Opens the panel of a share. */
async function choose() {
  const place = new FakeElement("div");
  const told = [];
  const choice = new DeviceChoice(place, ASKED, {
    onTrack: async (kind, track) => told.push([kind, track?.device.deviceId ?? null]),
    onEnded: () => told.push("ended"),
  });
  const stream = choice.choose();
  stream.catch(() => {});
  await settled();
  return { place, told, choice, stream, part: (id) => find(place, `choice-${id}`) };
}

test("the user sees what would be shared, mirrored and muted, and starts", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"));
  const { part, stream, told } = await choose();
  const video = part("video");
  assert.deepEqual(video.srcObject.getTracks().map(({ device }) => device.deviceId), ["a"]);
  assert.ok(video.muted && video.className === "mirrored");
  assert.ok(part("level").value > 0.8 && FakeContext.open === 1);
  const list = part("camera");
  assert.deepEqual(list.children.map(({ textContent }) => textContent), ["camera a", "camera b"]);
  list.value = "b";
  list.dispatchEvent(new Event("change"));
  await settled();
  assert.equal(devices.live.length, 2);
  part("start").click();
  assert.deepEqual((await stream).getTracks().map(({ device }) => device.deviceId), ["b", "m"]);
  assert.deepEqual(told, [], "what is chosen before isn't exchanged");
  assert.equal(FakeContext.open, 0, "the level is measured only while the panel is open");
  assert.equal(video.srcObject, null);
  assert.equal(document.activeElement, part("change"));
});

test("a live share keeps its panel closed until it is opened, and changes devices at once", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"));
  const { part, choice, told } = await choose();
  part("start").click();
  assert.ok(!part("change").hidden && FakeContext.open === 0);
  part("change").click();
  assert.ok(part("start").hidden && FakeContext.open === 1);
  part("camera").value = "b";
  part("camera").dispatchEvent(new Event("change"));
  await settled();
  assert.deepEqual(told, [["video", "b"]]);
  part("cancel").click();
  assert.equal(FakeContext.open, 0);
  assert.equal(devices.live.length, 2, "closing the panel ends nothing");
  part("change").click();
  choice.fold();
  assert.equal(FakeContext.open, 0);
  choice.close();
  assert.deepEqual(devices.live, []);
});

test("Cancel releases all devices, also those that the browser still asks for", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"));
  const { part, stream, place, choice } = await choose();
  part("cancel").click();
  assert.equal(await stream, null);
  assert.ok(devices.live.length === 0 && FakeContext.open === 0);
  choice.close();
  assert.equal(place.children.length, 0);
  let answer;
  const ask = devices.getUserMedia.bind(devices);
  devices.getUserMedia = (wanted) => new Promise((resume) => {
    answer = () => resume(ask(wanted));
  });
  const second = await choose();
  assert.ok(second.part("start").disabled);
  second.part("cancel").click();
  assert.equal(await second.stream, null);
  answer();
  await settled();
  assert.equal(devices.opened.length, 4);
  assert.deepEqual(devices.live, []);
});

test("what keeps the devices from opening, or ends the last camera, is thrown", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"));
  devices.refusal = "NotAllowedError";
  await assert.rejects((await choose()).stream, { name: "NotAllowedError" });
  devices.refusal = "";
  const { stream, choice } = await choose();
  devices.unplug("a");
  await assert.rejects(stream, { name: "NotFoundError" });
  choice.close();
  assert.deepEqual(devices.live, []);
  const live = await choose().catch(() => null);
  await assert.rejects(live.stream, { name: "NotFoundError" });
});

test("front and back camera are a switch only where there are both, and the back one isn't mirrored", async () => {
  new FakeDevices(camera("a"), microphone("m"));
  const one = await choose();
  assert.ok(one.part("flip").parentElement.hidden);
  one.choice.close();
  new FakeDevices(camera("f", "user"), camera("b", "environment"), microphone("m"));
  const { part, choice } = await choose();
  assert.ok(!part("flip").parentElement.hidden && !part("flip").checked);
  part("flip").dispatchEvent(new Event("change"));
  await settled();
  assert.ok(part("flip").checked && part("video").className === "");
  choice.close();
});

test("a speaker is offered where the browser can change it, and the choice is played on", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"), speaker("default"), speaker("s"), speaker("t"));
  delete globalThis.HTMLMediaElement;
  assert.ok(!canChooseSpeaker());
  const without = await choose();
  assert.ok(without.part("speaker").parentElement.hidden);
  without.choice.close();
  globalThis.HTMLMediaElement = class {
    setSinkId() {}
  };
  const media = { sinkId: "", async setSinkId(id) { this.sinkId = id; } };
  document.querySelectorAll = () => [media];
  const { part, choice } = await choose();
  const list = part("speaker");
  assert.ok(!list.parentElement.hidden);
  assert.deepEqual(list.children.map((one) => one.getAttribute("value")), ["", "s", "t"]);
  list.value = "t";
  list.dispatchEvent(new Event("change"));
  await settled();
  assert.deepEqual([media.sinkId, list.value, devices.memory], ["t", "t", { speaker: "t" }]);
  choice.close();
  document.querySelectorAll = () => [];
});

test("a chosen speaker that is gone gives way to the default one, and a player without the choice plays on", async () => {
  const devices = new FakeDevices(speaker("s"));
  devices.memory = { speaker: "gone" };
  const told = [];
  const media = {
    sinkId: "gone",
    async setSinkId(id) {
      told.push(id);
      if (id === "gone") throw new DOMException("", "NotFoundError");
    },
  };
  await playOnChosen(media);
  assert.deepEqual(told, ["gone", ""]);
  await playOnChosen({});
  devices.memory = {};
  await playOnChosen({ sinkId: "", setSinkId: () => assert.fail() });
});

test("a viewer chooses among several speakers, if the browser names them", async () => {
  const devices = new FakeDevices(speaker("default"), speaker("s"), speaker("t"));
  assert.equal(await hasSpeakers(), false, "not allowed yet");
  devices.isAllowed = true;
  assert.equal(await hasSpeakers(), true);
  devices.unplug("t");
  assert.equal(await hasSpeakers(), false, "the default one is the only one");
  const people = new FakeElement("section");
  const panels = [];
  people.after = (panel) => panels.push(panel);
  const getElementById = document.getElementById;
  document.getElementById = (id) => (id === "people" ? people : getElementById(id));
  document.addEventListener = () => {};
  document.dispatchEvent = () => {};
  const choice = new SpeakerChoice();
  await choice.toggle();
  const list = find(panels[0], "speaker-choice");
  assert.ok(!panels[0].hidden && list.children.length === 2 && document.activeElement === list);
  list.value = "s";
  list.dispatchEvent(new Event("change"));
  assert.deepEqual(devices.memory, { speaker: "s" });
  await choice.toggle();
  assert.ok(panels[0].hidden);
});

test("the level is shown in decibels", () => {
  assert.equal(levelOf(new Float32Array(4)), 0);
  assert.equal(levelOf([0, -1]), 1);
  assert.ok(Math.abs(levelOf([0.001, 0.0001]) - 0) < 1e-9);
  assert.ok(Math.abs(levelOf([0.0316]) - 0.5) < 0.01);
});

test("a kept choice that isn't one is ignored, and blocked storage only forgets", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"));
  for (const kept of ["{", "null", "7", '{"camera":{},"microphone":""}']) {
    devices.kept.set("screenrelay.devices", kept);
    const { part, choice } = await choose();
    assert.equal(part("camera").value, "a");
    choice.close();
  }
  Object.defineProperty(globalThis, "localStorage", { configurable: true, get: () => { throw new Error("blocked"); } });
  const { part, choice } = await choose();
  part("camera").value = "a";
  part("camera").dispatchEvent(new Event("change"));
  await settled();
  assert.equal(devices.live.length, 2);
  choice.close();
});
