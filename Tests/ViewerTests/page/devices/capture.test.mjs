// Which camera and microphone are opened for a share, and what happens when devices come and go.

import assert from "node:assert/strict";
import test from "node:test";

import { camera, FakeDevices, microphone, settled } from "../fakes/devices.mjs";
import { Capture } from "../../../../Sources/Rooms/Viewer/page/choice/capture.js";
import { choiceWords } from "../../../../Sources/Rooms/Viewer/page/choice/choicewords.js";
import { facingOf } from "../../../../Sources/Rooms/Viewer/page/choice/facing.js";

const ASKED = { width: 640, height: 360, frameRate: 15 };

/** Opens a capture; `told` has what its owner was told. */
async function open() {
  const told = [];
  const capture = new Capture(ASKED, {
    onChange() {},
    onTrack: async (kind, track) => told.push([kind, track?.device.deviceId ?? null]),
    onEnded: () => told.push("ended"),
  });
  await capture.open();
  told.length = 0;
  return { capture, told };
}

const used = ({ tracks }) => [tracks.video?.device.deviceId, tracks.audio?.device.deviceId];

test("the default devices are opened in one request, with the room's size and frame rate", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"));
  const { capture } = await open();
  assert.deepEqual(used(capture), ["a", "m"]);
  assert.equal(devices.requests.length, 1);
  const { video } = devices.requests[0];
  assert.deepEqual(video, { width: { ideal: 640 }, height: { ideal: 360 }, frameRate: { ideal: 15 } });
  assert.deepEqual(capture.lists.video.map(({ label }) => label), ["camera a", "camera b"], "names, once allowed");
  assert.equal(capture.note, "");
  assert.deepEqual(devices.memory, {}, "nothing was chosen");
});

test("a choice takes the place of the former device, is kept, and is used at once next time", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"), microphone("n"));
  const { capture, told } = await open();
  await capture.choose("video", "b");
  await capture.choose("audio", "n");
  assert.deepEqual(told, [["video", "b"], ["audio", "n"]]);
  assert.deepEqual(devices.live.map(({ device }) => device.deviceId), ["b", "n"]);
  assert.deepEqual(devices.memory, { camera: "b", microphone: "n" });
  capture.close();
  assert.deepEqual(devices.live, []);
  devices.requests.length = 0;
  assert.deepEqual(used((await open()).capture), ["b", "n"]);
  assert.equal(devices.requests.length, 1);
});

test("a chosen device that is gone is replaced by the default one, with one line, and stays chosen", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"));
  devices.memory = { camera: "gone", microphone: "m" };
  const { capture } = await open();
  assert.deepEqual(used(capture), ["a", "m"]);
  assert.equal(capture.note, "missed-video");
  assert.equal(devices.memory.camera, "gone");
  capture.close();
  devices.memory = { microphone: "gone" };
  assert.equal((await open()).capture.note, "missed-audio");
});

test("without a microphone the camera is shared alone, and one that comes can be chosen", async () => {
  const devices = new FakeDevices(camera("a"));
  const { capture, told } = await open();
  assert.deepEqual(used(capture), ["a", undefined]);
  assert.equal(capture.note, "absent-audio");
  devices.plug(microphone("m"));
  await settled();
  assert.deepEqual(used(capture), ["a", undefined], "nothing is opened by itself");
  assert.equal(capture.lists.audio.length, 1);
  await capture.choose("audio", "m");
  assert.deepEqual(told, [["audio", "m"]]);
  assert.equal(capture.note, "");
});

test("why nothing can be opened is thrown, and a refusal isn't asked again", async () => {
  new FakeDevices(microphone("m"));
  await assert.rejects(open(), { name: "NotFoundError" });
  const devices = new FakeDevices(camera("a"), microphone("m"));
  devices.busy.add("a");
  await assert.rejects(open(), { name: "NotReadableError" });
  devices.refusal = "NotAllowedError";
  devices.requests.length = 0;
  await assert.rejects(open(), { name: "NotAllowedError" });
  assert.equal(devices.requests.length, 1);
  assert.deepEqual(devices.live, []);
});

test("with a blocked microphone the camera is shared alone, and the panel says so", async () => {
  const states = [
    { camera: "granted", microphone: "denied" }, { camera: "prompt", microphone: "denied" },
    { camera: "granted", microphone: "prompt" }, null,
  ];
  for (const permissions of states) {
    const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"));
    Object.assign(devices, { permissions, blocked: new Set(["audio"]), memory: { camera: "b", microphone: "m" } });
    const { capture } = await open();
    assert.deepEqual([used(capture), capture.note], [["b", undefined], "refused-audio"]);
    assert.deepEqual(devices.requests.map((wanted) => Object.keys(wanted)), [["video", "audio"], ["video"]]);
  }
});

test("a user who has blocked both, or closed the browser's question, isn't asked for the camera alone", async () => {
  const states = [{ camera: "denied", microphone: "denied" }, { camera: "prompt", microphone: "prompt" }];
  for (const permissions of states) {
    const devices = new FakeDevices(camera("a"), microphone("m"));
    Object.assign(devices, { permissions, blocked: new Set(["video", "audio"]) });
    await assert.rejects(open(), { name: "NotAllowedError" });
    assert.equal(devices.requests.length, 1);
  }
});

test("if the default camera is in use, another one is opened", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"));
  devices.isAllowed = true;
  devices.busy.add("a");
  assert.deepEqual(used((await open()).capture), ["b", "m"]);
});

test("a camera that another program uses can't be chosen, and the former one goes on", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"));
  const { capture } = await open();
  devices.busy.add("b");
  await capture.choose("video", "b");
  assert.deepEqual(used(capture), ["a", "m"]);
  assert.equal(capture.tracks.video.readyState, "live");
  assert.equal(capture.note, "unopened-video");
  assert.deepEqual(devices.memory, {});
});

test("a phone's cameras are exchanged by the side, one at a time, and the side is kept instead of an id", async () => {
  const devices = new FakeDevices(camera("f", "user"), camera("b", "environment"), microphone("m"));
  devices.hasOneCamera = true;
  const { capture, told } = await open();
  assert.ok(capture.canFlip && capture.facing === "user");
  devices.memory = { camera: "f" };
  await capture.flip();
  assert.equal(capture.facing, "environment");
  assert.deepEqual(told, [["video", "b"]]);
  assert.deepEqual(devices.memory, { facing: "environment" });
  assert.equal(devices.live.filter(({ kind }) => kind === "video").length, 1);
  capture.close();
  assert.deepEqual(used((await open()).capture), ["b", "m"]);
});

test("a phone whose other camera can't be opened goes on with the former one", async () => {
  const devices = new FakeDevices(camera("f", "user"), camera("b", "environment"), microphone("m"));
  devices.hasOneCamera = true;
  devices.busy.add("b");
  const { capture, told } = await open();
  await capture.flip();
  assert.equal(capture.tracks.video.readyState, "live");
  assert.deepEqual([capture.facing, told, capture.note], ["user", [["video", "f"]], "unopened-video"]);
  assert.deepEqual(devices.memory, {});
});

test("a camera or microphone that is unplugged is replaced, else the sound or the share ends", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"), microphone("n"));
  const { capture, told } = await open();
  devices.unplug("a");
  await settled();
  assert.deepEqual(used(capture), ["b", "m"]);
  assert.equal(capture.note, "lost-video");
  devices.unplug("m");
  await settled();
  assert.equal(capture.note, "lost-audio");
  devices.unplug("n");
  await settled();
  assert.equal(capture.note, "absent-audio");
  assert.deepEqual(told.splice(0), [["video", "b"], ["audio", "n"], ["audio", null]]);
  devices.unplug("b");
  await settled();
  assert.deepEqual(told, ["ended"]);
});

test("a device that comes or goes without being used changes only the list", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"));
  const { capture, told } = await open();
  devices.plug(camera("b"));
  await settled();
  assert.equal(capture.lists.video.length, 2);
  devices.unplug("b");
  await settled();
  assert.equal(capture.lists.video.length, 1);
  assert.deepEqual([used(capture), told, capture.note], [["a", "m"], [], ""]);
});

test("devices that open after the user has cancelled are released", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"));
  const capture = new Capture(ASKED, { onChange() {}, onTrack: async () => {}, onEnded() {} });
  const opening = capture.open();
  capture.close();
  await opening;
  assert.deepEqual(devices.live, []);
});

test("of two choices the later one counts, and no track stays open", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), camera("c"), microphone("m"));
  const { capture } = await open();
  await Promise.all([capture.choose("video", "b"), capture.choose("video", "c")]);
  assert.deepEqual(used(capture), ["c", "m"]);
  assert.deepEqual(devices.live.map(({ device }) => device.deviceId), ["m", "c"]);
  assert.equal(devices.memory.camera, "c");
});

test("a device that can't be sent doesn't keep the former one open", async () => {
  const devices = new FakeDevices(camera("a"), camera("b"), microphone("m"));
  const capture = new Capture(ASKED, {
    onChange() {},
    onTrack: async (_, track) => {
      if (track.device.deviceId === "b") throw new Error("no session");
    },
    onEnded() {},
  });
  await capture.open();
  await assert.rejects(capture.choose("video", "b"), /no session/);
  assert.deepEqual(devices.live.map(({ device }) => device.deviceId), ["m", "b"]);
  capture.close();
  assert.deepEqual(devices.live, []);
});

test("the side of a camera is known by its properties, or else by its name", () => {
  assert.equal(facingOf(camera("x", "environment")), "environment");
  const named = (label) => facingOf({ label });
  assert.equal(named("camera2 0, facing back"), "environment");
  assert.equal(named("camera2 1, facing front"), "user");
  assert.equal(named("后置摄像头"), "environment");
  assert.equal(named("Backup webcam"), "");
  assert.equal(facingOf(undefined), "");
});

test("each note is there in both languages, and the Chinese texts have no English", () => {
  const keys = (value) => (typeof value === "object"
    ? Object.entries(value).map(([key, inner]) => [key, keys(inner)]) : typeof value);
  assert.deepEqual(keys(choiceWords.en), keys(choiceWords.zh));
  const texts = [...Object.values(choiceWords.zh), ...Object.values(choiceWords.zh.notes)];
  for (const text of texts.filter((one) => typeof one === "string")) assert.doesNotMatch(text, /[a-z]/i);
  const whats = ["missed", "lost", "unopened", "absent", "refused"];
  const notes = whats.flatMap((what) => [`${what}-video`, `${what}-audio`]);
  for (const note of [...notes, "refused"]) assert.match(choiceWords.en.notes[note], /\.$/);
});
