// Pointing with a dot: which place it is at, how often it is sent, how it fades and how it is drawn.

import assert from "node:assert/strict";
import test from "node:test";

import { FakeElement } from "./fakes/fakeelement.mjs";
import { Dots, hueOf, opacityAt } from "../../../Sources/Rooms/Viewer/page/point/dots.js";
import { pictureIn, placeAt, placeIn } from "../../../Sources/Rooms/Viewer/page/point/pointplace.js";
import { PointSender } from "../../../Sources/Rooms/Viewer/page/point/pointsender.js";
import { PointView } from "../../../Sources/Rooms/Viewer/page/point/pointview.js";

const box = (left, top, width, height) => ({ left, top, width, height });
const size = (width, height) => ({ width, height });

test("a picture is centred in its element, with bars on two sides", () => {
  assert.deepEqual(pictureIn(box(10, 20, 400, 400), size(640, 320)), box(10, 120, 400, 200));
  assert.deepEqual(pictureIn(box(0, 0, 400, 100), size(100, 100)), box(150, 0, 100, 100));
  for (const [element, picture] of [
    [box(0, 0, 400, 400), size(0, 0)], [box(0, 0, 0, 0), size(640, 320)], [box(0, 0, 4, 4), size(NaN, 3)],
  ]) assert.equal(pictureIn(element, picture), null);
});

test("a place is in fractions of the picture, and there is none in its bars", () => {
  const picture = box(10, 120, 400, 200);
  assert.deepEqual(placeIn(picture, { x: 10, y: 120 }), { x: 0, y: 0 });
  assert.deepEqual(placeIn(picture, { x: 410, y: 320 }), { x: 1, y: 1 });
  assert.deepEqual(placeIn(picture, { x: 110, y: 270 }), { x: 0.25, y: 0.75 });
  for (const point of [{ x: 9, y: 200 }, { x: 411, y: 200 }, { x: 100, y: 119 }, { x: 100, y: 321 }]) {
    assert.equal(placeIn(picture, point), null);
  }
});

test("side by side, a place belongs to the track that is under it, and none to what is hidden", () => {
  const large = { track: "desk", box: box(400, 0, 400, 400), size: size(100, 100), clip: box(400, 0, 400, 400) };
  const small = { track: "desk2", box: box(0, 0, 400, 400), size: size(200, 100), clip: box(0, 0, 400, 400) };
  const hidden = { track: "desk", box: box(0, 0, 0, 0), size: size(100, 100), clip: box(0, 0, 0, 0) };
  const pictures = [large, hidden, small];
  assert.deepEqual(placeAt(pictures, { x: 600, y: 100 }), { track: "desk", x: 0.5, y: 0.25 });
  assert.deepEqual(placeAt(pictures, { x: 100, y: 200 }), { track: "desk2", x: 0.25, y: 0.5 });
  assert.equal(placeAt(pictures, { x: 100, y: 50 }), null);
  assert.equal(placeAt([], { x: 100, y: 50 }), null);
  // Neither is what is outside a part of the window that is empty.
  assert.equal(placeAt([{ ...large, clip: box(600, 100, 0, 0) }], { x: 600, y: 100 }), null);
  // A picture that is zoomed in extends beyond its part of the window, behind the other one.
  const zoomed = { ...large, box: box(0, -400, 1200, 1200) };
  assert.deepEqual(placeAt([zoomed, small], { x: 600, y: 200 }), { track: "desk", x: 0.5, y: 0.5 });
  assert.equal(placeAt([zoomed, small], { x: 100, y: 200 }).track, "desk2");
});

test("a dot is whole at first, fades, and is gone a second after its last news", () => {
  assert.deepEqual([0, 600, 800, 1000, 5000].map(opacityAt), [1, 1, 0.5, 0, 0]);
  const dots = new Dots();
  dots.take({ socketId: "a", name: "Ann", x: 0.5, y: 1 }, 1000);
  dots.take({ socketId: "b", name: "Bob", track: "desk2", x: 0, y: 0 }, 1500);
  assert.deepEqual(dots.at(1800), [
    { id: "a", name: "Ann", track: null, x: 0.5, y: 1, opacity: 0.5 },
    { id: "b", name: "Bob", track: "desk2", x: 0, y: 0, opacity: 1 },
  ]);
  assert.deepEqual(dots.at(2000).map(({ id }) => id), ["b"]);
  dots.take({ socketId: "a", name: "Ann", x: 0.25, y: 1 }, 2100);
  assert.deepEqual(dots.at(2200).map(({ id, x }) => [id, x]), [["b", 0], ["a", 0.25]]);
  dots.take({ socketId: "b" }, 2300);
  assert.deepEqual(dots.at(2300).map(({ id }) => id), ["a"]);
  dots.clear();
  assert.deepEqual(dots.at(2300), []);
});

test("what isn't a place in a picture is no dot, and there are at most 50", () => {
  const dots = new Dots();
  for (const place of [
    { x: 2, y: 0 }, { x: -0.1, y: 0 }, { x: "0.5", y: 0.5 }, { x: NaN, y: 0 }, { x: 0.5 }, { x: Infinity, y: 0 },
  ]) dots.take({ socketId: "a", name: "Ann", ...place }, 0);
  dots.take({ name: "Ann", x: 0.5, y: 0.5 }, 0);
  assert.deepEqual(dots.at(0), []);
  for (let number = 0; number < 100; number += 1) dots.take({ socketId: `${number}`, name: "", x: 0, y: 0 }, 0);
  assert.equal(dots.at(0).length, 50);
  dots.take({ socketId: "7", name: "", x: 1, y: 0 }, 0);
  assert.equal(dots.at(0)[7].x, 1);
});

test("a name has the same color everywhere, and names are spread over the hues", () => {
  assert.equal(hueOf("Ann"), hueOf("Ann"));
  const hues = ["Ann", "Bob", "Cid", "Dora", "Eve", "李雷", "韩梅梅", "😀", ""].map(hueOf);
  assert.ok(hues.every((hue) => Number.isInteger(hue) && hue >= 0 && hue < 360));
  assert.equal(new Set(hues).size, hues.length);
  const many = new Set(Array.from({ length: 2000 }, (_, number) => hueOf(`viewer ${number}`)));
  assert.ok(many.size > 300, `${many.size}`);
});

/** A sender whose clock stands still until `pass(time)`; `sent` are the times and places. */
function sending() {
  let now = 0;
  let next = null;
  const sent = [];
  const clock = {
    now: () => now,
    wait: (action, delay) => (next = { action, at: now + delay }),
    cancel: (timer) => { if (next === timer) next = null; },
  };
  const sender = new PointSender((place) => sent.push([now, place]), clock);
  const pass = (until) => {
    while (next && next.at <= until) {
      const { action, at } = next;
      now = at;
      next = null;
      action();
    }
    now = until;
  };
  return { sender, sent, pass };
}

test("a place is sent at once, then at most 30 per second, and the last one always", () => {
  const { sender, sent, pass } = sending();
  for (let time = 0; time < 1000; time += 4) {
    pass(time);
    sender.move(time);
  }
  pass(1040);
  assert.deepEqual(sent[0], [0, 0]);
  assert.ok(sent.length <= 31 && sent.length >= 28, `${sent.length}`);
  assert.ok(sent.every(([time], index) => index === 0 || time - sent[index - 1][0] >= 33));
  assert.equal(sent.at(-1)[1], 996);
});

test("a pointer that rests is repeated, for ten seconds", () => {
  const { sender, sent, pass } = sending();
  sender.move("here");
  pass(1000);
  assert.deepEqual(sent, [[0, "here"], [400, "here"], [800, "here"]]);
  pass(60000);
  assert.ok(sent.at(-1)[0] < 10400 && sent.at(-1)[0] >= 9600);
  const before = sent.length;
  sender.move("there");
  assert.deepEqual(sent.at(-1), [60000, "there"]);
  assert.equal(sent.length, before + 1);
});

test("leaving the picture is sent once, and nothing if no place was sent", () => {
  const { sender, sent, pass } = sending();
  sender.move(null);
  sender.stop();
  assert.deepEqual(sent, []);
  sender.move("here");
  sender.move(null);
  sender.move(null);
  pass(5000);
  assert.deepEqual(sent, [[0, "here"], [34, null]]);
  sender.move("here");
  pass(5010);
  // Turning the laser off doesn't wait.
  sender.stop();
  sender.stop();
  pass(9000);
  assert.deepEqual(sent.slice(2), [[5000, "here"], [5010, null]]);
});

/** A picture on the page, whose element is 400 by 400 at `left`. */
function picture(left, isShown) {
  const video = new FakeElement("video");
  Object.assign(video, { videoWidth: 640, videoHeight: 320, getBoundingClientRect: () => box(left, 0, 400, 400) });
  const parent = new FakeElement("div");
  parent.getBoundingClientRect = () => box(left, 0, 400, 400);
  parent.append(video);
  return { video, parent, clip: parent, shows: isShown };
}

const dot = (id, track, x, name = "Ann") => ({ id, name, track, x, y: 0.5, opacity: 1 });

test("a dot is drawn over the picture of its track, and removed when it is gone", () => {
  const view = new PointView();
  const large = picture(0, (track) => track === null || track === "desk");
  const small = picture(400, (track) => track === "desk2");
  view.draw([dot("a", "desk2", 0.25), dot("b", null, 0.5), dot("c", "attic", 0.5)], [], [large, small]);
  const [, over] = large.parent.children;
  const [, beside] = small.parent.children;
  assert.deepEqual([over.style.left, over.style.top, over.style.width, over.style.height],
    ["0px", "100px", "400px", "200px"]);
  assert.deepEqual(over.children.map(({ style }) => [style.left, style.top]), [["50%", "50%"]]);
  assert.deepEqual(beside.children.map(({ style }) => style.left), ["25%"]);
  const [shown] = beside.children;
  view.draw([dot("a", "desk2", 0.5)], [], [large, small]);
  assert.equal(beside.children[0], shown);
  assert.equal(shown.style.left, "50%");
  assert.equal(large.parent.children.length, 1);
  small.video.videoWidth = 0;
  view.draw([dot("a", "desk2", 0.5)], [], [large, small]);
  assert.ok(beside.hidden);
  view.draw([], [], [large, small]);
  assert.equal(small.parent.children.length, 1);
});

test("a name is text beside its dot, toward the middle, and our own dot has none", () => {
  const view = new PointView();
  const only = picture(0, () => true);
  const dots = new Dots();
  dots.take({ socketId: "a", name: "<img src=x onerror=alert(1)>\u202e", x: 0.9, y: 0.5 }, 0);
  dots.take({ socketId: "", name: "Bob", x: 0.1, y: 0.5 }, 0);
  view.draw(dots.at(0), [], [only]);
  const names = only.parent.children[1].children.map(({ children }) => children[1]);
  assert.deepEqual(names[0].children, ["<img src=x onerror=alert(1)>"]);
  assert.deepEqual(names.map(({ hidden }) => hidden), [false, true]);
  assert.deepEqual(names.map(({ style }) => [style.left, style.right]), [["auto", "8px"], ["8px", "auto"]]);
  assert.ok(names[0].style.background !== names[1].style.background);
});
