// The tracks of a room with several: one large and the others small, or side by side.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";
import { fakeConnections } from "./fakes/fakeconnection.mjs";
import { FakeElement } from "./fakes/fakeelement.mjs";

/** A list finds the first button of a line that isn't hidden. */
class FakeList extends FakeElement {
  querySelector(selector) {
    assert.equal(selector, "li:not([hidden]) button");
    return this.children.find(({ hidden }) => !hidden)?.children[0] ?? null;
  }
}

const page = new Map();
const list = () => page.get("tracks").children[0];
document.createElement = (name) => (name === "ul" ? new FakeList(name) : new FakeElement(name));
document.getElementById = (id) => page.get(id);
const { Tracks } = await import("../../../Sources/Rooms/Viewer/page/meeting/tracks.js");
const { TrackList } = await import("../../../Sources/Rooms/Viewer/page/meeting/tracklist.js");

/** The tracks of a page that has been told of these. */
function told(...names) {
  for (const id of ["tracks", "stage"]) page.set(id, new FakeElement("section"));
  const tracks = new TrackList();
  const viewer = Object.assign(new EventTarget(), {
    tracks, browser: { hasH264: false }, link: {}, relays: { servers: [], all: [] }, send: () => {}, watch: (name) => tracks.choose(name),
  });
  const strip = new Tracks(viewer);
  const tell = (...names) => {
    tracks.told(names.map((name) => ({ name, source: "live" })));
    viewer.dispatchEvent(new CustomEvent("tracks", { detail: tracks.all }));
  };
  tell(...names);
  const [, beside, fold] = page.get("tracks").children;
  return { viewer, strip, tracks, tell, beside, fold };
}

const isBeside = () => page.get("stage").attributes.has("data-beside");
const visible = () => list().children.filter(({ hidden }) => !hidden).map(({ children: [button] }) => button);
const names = () => visible().map(({ children }) => children[1].textContent);

test("side by side, the shown track has no small picture, and the button says so", () => {
  const { strip, beside } = told("desk", "wall", "door");
  const look = () => [isBeside(), names(), beside.getAttribute("aria-pressed")];
  assert.deepEqual(look(), [false, ["desk", "wall", "door"], "false"]);
  beside.click();
  assert.deepEqual(look(), [true, ["wall", "door"], "true"]);
  assert.equal(strip.toggleBeside(), true);
  assert.deepEqual(look(), [false, ["desk", "wall", "door"], "false"]);
});

test("side by side, a click swaps two tracks, and the focus moves to the other one", () => {
  const { strip, tracks } = told("desk", "wall");
  strip.toggleBeside();
  const [wall] = visible();
  wall.click();
  assert.deepEqual([tracks.shown, names()], ["wall", ["desk"]]);
  assert.equal(document.activeElement, visible()[0]);
  document.activeElement = null;
  strip.next();
  assert.deepEqual([tracks.shown, names(), document.activeElement], ["desk", ["wall"], null]);
});

test("hidden thumbnails return side by side, and hiding them ends that", () => {
  const { strip, fold } = told("desk", "wall");
  fold.click();
  assert.equal(list().hidden, true);
  strip.toggleBeside();
  assert.deepEqual([isBeside(), list().hidden], [true, false]);
  fold.click();
  assert.deepEqual([isBeside(), list().hidden], [false, true]);
});

test("a single track is never shown side by side", () => {
  const { strip, tell } = told("desk");
  assert.equal(strip.toggleBeside(), false);
  assert.equal(isBeside(), false);
  tell("desk", "wall");
  assert.equal(isBeside(), false);
  strip.toggleBeside();
  tell("desk");
  assert.equal(isBeside(), false);
  tell("desk", "door");
  assert.deepEqual([isBeside(), names()], [true, ["door"]]);
});

test("a small picture keeps its connection, and a host that it can't reach is asked again", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const made = fakeConnections();
  const { viewer } = told("desk", "wall");
  viewer.browser.hasH264 = true;
  const answer = () => viewer.dispatchEvent(
    new CustomEvent("_answer", { detail: { socketId: "host", track: "wall", sdp: { type: "answer", sdp: "v=0" } } }));
  viewer.dispatchEvent(new CustomEvent("joined", { detail: { host: "host" } }));
  assert.equal(made.length, 1);
  answer();
  context.mock.timers.tick(15_000);
  context.mock.timers.tick(3000);
  assert.equal(made.length, 2);
  answer();
  made[1].connect();
  context.mock.timers.tick(60_000);
  context.mock.timers.tick(60_000);
  assert.equal(made.length, 2);
});
