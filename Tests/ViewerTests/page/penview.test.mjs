// Drawing while pointing: how lines and names are drawn over a picture.

import assert from "node:assert/strict";
import test from "node:test";

import { FakeElement } from "./fakes/fakeelement.mjs";
import { PointView } from "../../../Sources/Rooms/Viewer/page/point/pointview.js";

const box = (left, top, width, height) => ({ left, top, width, height });

/** What is drawn on canvases: the scale, and color, width and points of each stroke. */
function canvases() {
  const drawn = [];
  let path = [];
  const context = {
    setTransform: (scale, _, __, ___, left, top) => drawn.push({ scale, left, top }),
    clearRect: () => drawn.splice(0),
    beginPath: () => (path = []),
    moveTo: (x, y) => path.push([x, y]),
    lineTo: (x, y) => path.push([x, y]),
    stroke: () => drawn.push({ color: context.strokeStyle, width: context.lineWidth, path }),
  };
  /** @type {any} */ (FakeElement.prototype).getContext = () => context;
  return drawn;
}

/** A picture on the page, whose element is 400 by 400 at `left`. */
function picture(left, isShown) {
  const made = new FakeElement("video");
  Object.assign(made, { videoWidth: 640, videoHeight: 320, getBoundingClientRect: () => box(left, 0, 400, 400) });
  const parent = new FakeElement("div");
  parent.getBoundingClientRect = () => box(left, 0, 400, 400);
  parent.append(made);
  return { video: made, parent, clip: parent, shows: isShown };
}

test("lines are drawn over the picture of their track in the color of the name, in the pixels of the screen", () => {
  const drawn = canvases();
  globalThis.devicePixelRatio = 2;
  const view = new PointView();
  const [desk, other] = [picture(0, (track) => track === "desk"), picture(400, (track) => track === "desk2")];
  const points = [{ x: 0, y: 0, strength: 1 }, { x: 0.5, y: 1, strength: 1 }, { x: 1, y: 1, strength: 0.5 }];
  view.draw([], [{ id: "a", name: "Ann", track: "desk", points }], [desk, other]);
  const [, layer] = desk.parent.children;
  const [canvas] = layer.children;
  assert.deepEqual([layer.style.top, layer.style.width, layer.style.height], ["100px", "400px", "200px"]);
  assert.deepEqual([canvas.width, canvas.height, canvas.style.width, canvas.style.left], [800, 400, "400px", "0px"]);
  assert.deepEqual(drawn.shift(), { scale: 2, left: 0, top: 0 });
  const colored = drawn.filter(({ color }) => color.startsWith("hsl"));
  assert.deepEqual(colored.map(({ width, path }) => [width, path.map(([x, y]) => [Math.round(x), y])]), [
    [4, [[0, 0], [200, 200]]], [2, [[200, 200], [400, 200]]],
  ]);
  assert.deepEqual(drawn.slice(0, 2).map(({ color, width }) => [color, width]), [["#fff", 6], ["#fff", 3]]);
  assert.equal(other.parent.children.length, 1);
  // A single point, too.
  view.draw([], [{ id: "a", name: "Ann", track: "desk", points: points.slice(1, 2) }], [desk, other]);
  assert.ok(drawn.at(-1).path.length === 2 && drawn.at(-1).path[1][0] > drawn.at(-1).path[0][0]);
  // Without lines there is no canvas.
  view.draw([{ id: "a", name: "Ann", track: "desk", x: 0, y: 0, opacity: 1 }], [], [desk, other]);
  assert.ok(!layer.children.includes(canvas) && layer.children.length === 1);
  view.draw([], [], [desk, other]);
  assert.equal(desk.parent.children.length, 1);
  globalThis.devicePixelRatio = 1;
});

test("of a picture that is zoomed in, only the part in the window has a canvas", () => {
  const drawn = canvases();
  const view = new PointView();
  const zoomed = picture(0, () => true);
  zoomed.video.getBoundingClientRect = () => box(-1000, -500, 4000, 2000);
  const points = [{ x: 0.5, y: 0.5, strength: 1 }, { x: 0.25, y: 0.25, strength: 1 }];
  view.draw([], [{ id: "a", name: "Ann", track: null, points }], [zoomed]);
  const [canvas] = zoomed.parent.children[1].children;
  assert.deepEqual([canvas.width, canvas.height], [400, 400]);
  assert.deepEqual([canvas.style.left, canvas.style.top, canvas.style.width], ["1000px", "500px", "400px"]);
  assert.deepEqual(drawn[0], { scale: 1, left: -1000, top: -500 });
  // Outside the window there is none.
  zoomed.clip = new FakeElement("div");
  zoomed.clip.getBoundingClientRect = () => box(5000, 0, 400, 400);
  view.draw([], [{ id: "a", name: "Ann", track: null, points }], [zoomed]);
  assert.equal(zoomed.parent.children[1].children.length, 0);
});

test("a name alone has no dot", () => {
  const view = new PointView();
  const only = picture(0, () => true);
  const name = { id: "a", name: "Ann", track: null, x: 0.5, y: 0.5, opacity: 0.5 };
  view.draw([name], [], [only]);
  const [spot, text] = only.parent.children[1].children[0].children;
  assert.ok(!spot.hidden);
  view.draw([{ ...name, isNameOnly: true }], [], [only]);
  assert.ok(spot.hidden && !text.hidden && text.textContent === "Ann");
});
