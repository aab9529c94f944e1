// The speaker that a user chooses, in the panel of a share or in one of its own.

import assert from "node:assert/strict";
import test from "node:test";

import { FakeElement } from "../fakes/fakeelement.mjs";
import { camera, FakeDevices, microphone, settled, speaker } from "../fakes/devices.mjs";
import { choose, events, find } from "../fakes/choosing.mjs";
import { element, iconButton, relabel, setText } from "../../../../Sources/Rooms/Viewer/page/element.js";
import { Sound } from "../../../../Sources/Rooms/Viewer/page/sound/sound.js";
import { SpeakerChoice } from "../../../../Sources/Rooms/Viewer/page/choice/choice.js";
import { canChooseSpeaker, hasSpeakers, playOnChosen } from "../../../../Sources/Rooms/Viewer/page/choice/output.js";
import { Speaker } from "../../../../Sources/Rooms/Viewer/page/fallback/speaker.js";

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
  const choice = new SpeakerChoice();
  const opener = new FakeElement("button");
  opener.focus();
  await choice.toggle();
  const list = find(panels[0], "speaker-choice");
  assert.ok(!panels[0].hidden && list.children.length === 2 && document.activeElement === list);
  list.value = "s";
  list.dispatchEvent(new Event("change"));
  assert.deepEqual(devices.memory, { speaker: "s" });
  await choice.toggle();
  assert.ok(panels[0].hidden && document.activeElement === opener, "the focus goes back");
  await choice.toggle();
  panels[0].dispatchEvent(Object.assign(new Event("keydown"), { key: "Escape" }));
  assert.ok(panels[0].hidden && document.activeElement === opener);
  await choice.toggle();
  const other = new FakeElement("input");
  other.focus();
  events.dispatchEvent(new CustomEvent("panelopened", { detail: other }));
  assert.ok(panels[0].hidden && document.activeElement === other, "another panel keeps it");
  document.getElementById = getElementById;
});

test("sound that comes over the WebSocket is played on the chosen speaker, and on another one at once", async () => {
  const devices = new FakeDevices(camera("a"), microphone("m"), speaker("s"), speaker("t"));
  devices.memory = { speaker: "s" };
  globalThis.HTMLMediaElement = class {
    setSinkId() {}
  };
  const sound = new Speaker(1, () => assert.fail());
  assert.equal(sound.context.sinkId, "s");
  const { part, choice } = await choose();
  part("speaker").value = "t";
  part("speaker").dispatchEvent(new Event("change"));
  assert.equal(sound.context.sinkId, "t");
  sound.close();
  part("speaker").value = "s";
  part("speaker").dispatchEvent(new Event("change"));
  assert.equal(sound.context.sinkId, "t", "it is closed");
  choice.close();
});

test("a page that watches has a button for the choice once the browser lists several speakers", async () => {
  const devices = new FakeDevices(speaker("default"), speaker("s"), speaker("t"));
  globalThis.HTMLMediaElement = class {
    setSinkId() {}
  };
  globalThis.MutationObserver = class {
    observe() {}
  };
  const controls = [];
  const beside = { after() {}, before: (one) => controls.push(one), classList: { contains: () => true } };
  const getElementById = document.getElementById;
  document.getElementById = () => beside;
  globalThis.getComputedStyle = () => ({ opacity: "0" });
  FakeElement.prototype.querySelector = () => new FakeElement("path");
  const create = document.createElement;
  document.createElement = (name) => Object.assign(create(name), { style: { setProperty() {} } });
  const told = [];
  const choice = async () => ({ SpeakerChoice: class { toggle() { told.push("toggled"); } } });
  const video = Object.assign(new EventTarget(), {
    sinkId: "", muted: true, volume: 1, async setSinkId(id) { this.sinkId = id; },
  });
  devices.memory = { speaker: "t" };
  new Sound({
    viewer: Object.assign(new EventTarget(), { sound: "none", phase: "playing", reception: null }), stage: {}, video,
    keys: { add() {} }, language: "en", choice, element, iconButton, relabel, setText,
  });
  await settled();
  const button = controls[0].children.find(({ id }) => id === "speaker-device");
  assert.ok(button.hidden, "the page may not listen");
  assert.equal(video.sinkId, "t");
  devices.isAllowed = true;
  devices.plug(speaker("u"));
  await settled();
  assert.ok(!button.hidden);
  button.click();
  await settled();
  assert.deepEqual(told, ["toggled"]);
  for (const one of ["t", "u"]) devices.unplug(one);
  await settled();
  assert.ok(button.hidden);
  Object.assign(document, { getElementById, createElement: create });
});
