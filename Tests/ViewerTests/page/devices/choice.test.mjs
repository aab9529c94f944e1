// The panel in which a user chooses devices.

import assert from "node:assert/strict";
import test from "node:test";

import { camera, FakeDevices, microphone, settled } from "../fakes/devices.mjs";
import { choose, FakeContext } from "../fakes/choosing.mjs";
import { levelOf } from "../../../../Sources/Rooms/Viewer/page/choice/levelmeter.js";

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

test("a level that can't be measured keeps no device open, and the microphone can still be exchanged", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"), microphone("n"));
  FakeContext.isUnfit = true;
  const { part, choice, stream } = await choose();
  part("microphone").value = "n";
  part("microphone").dispatchEvent(new Event("change"));
  await settled();
  assert.deepEqual(devices.live.map(({ device }) => device.deviceId), ["a", "n"]);
  assert.equal(part("level").value, 0);
  part("start").click();
  assert.equal((await stream).getTracks().length, 2);
  choice.close();
  assert.ok(devices.live.length === 0 && FakeContext.open === 0);
  FakeContext.isUnfit = false;
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
