// Drawing while pointing: which line a press draws, what is sent of it and how it fades.

import assert from "node:assert/strict";
import test from "node:test";

import "./fakes/browser.mjs";
import { Pen } from "../../../Sources/Rooms/Viewer/page/point/pen.js";
import { Lines, partsOf, strengthAt, withNames } from "../../../Sources/Rooms/Viewer/page/point/penlines.js";
import { thinned } from "../../../Sources/Rooms/Viewer/page/point/penpath.js";
import { overlap } from "../../../Sources/Rooms/Viewer/page/point/pointplace.js";
import { PointSender } from "../../../Sources/Rooms/Viewer/page/point/pointsender.js";

const box = (left, top, width, height) => ({ left, top, width, height });

test("a straight line is sent as its ends, also if it goes on in the next message", () => {
  const straight = Array.from({ length: 30 }, (_, index) => [0.1 + index / 100, 0.2 + index / 50]);
  assert.deepEqual(thinned([null, ...straight], null), [null, [0.1, 0.2], [0.39, 0.78]]);
  assert.deepEqual(thinned(straight.slice(10), straight[9]), [[0.39, 0.78]]);
  assert.deepEqual(thinned(straight.slice(10), null), [[0.2, 0.4], [0.39, 0.78]]);
  // There and back is no straight line.
  assert.deepEqual(thinned([null, [0.1, 0], [0.9, 0], [0.2, 0]], null), [null, [0.1, 0], [0.9, 0], [0.2, 0]]);
  assert.deepEqual(thinned([], [0.1, 0]), []);
  assert.deepEqual(thinned([null, [0.123456, 1]], [0.1, 0]), [null, [0.1235, 1]]);
});

test("a curve keeps its shape, and a path has at most 16 steps", () => {
  const around = (angle) => [0.5 + 0.3 * Math.cos(angle), 0.5 + 0.3 * Math.sin(angle)];
  const arc = Array.from({ length: 40 }, (_, index) => around(index / 40));
  const thin = thinned([null, ...arc], null);
  assert.ok(thin.length <= 16 && thin.length >= 5, `${thin.length}`);
  // Between the steps, the line is hardly beside the arc.
  for (const [index, [x, y]] of [...thin.entries()].slice(2)) {
    const [beforeX, beforeY] = thin[index - 1];
    const radius = Math.hypot((x + beforeX) / 2 - 0.5, (y + beforeY) / 2 - 0.5);
    assert.ok(Math.abs(radius - 0.3) < 0.004, `${radius}`);
  }
  const scribble = Array.from({ length: 200 }, (_, index) => [index % 2, index / 200]);
  assert.ok(thinned(scribble, [0, 0]).length <= 16);
  const points = Array.from({ length: 40 }, (_, index) => [null, [0, index / 40]]).flat();
  assert.deepEqual(thinned(points, null), points.slice(-16));
});

test("a line is whole at first, becomes thinner, and is gone after three seconds, each part by its age", () => {
  assert.deepEqual([0, 1500, 2250, 3000, 9000].map(strengthAt), [1, 1, 0.5, 0, 0]);
  const lines = new Lines();
  lines.take({ socketId: "a", name: "Ann", x: 0, y: 0, path: [null, [0, 0], [0.1, 0]] }, 1000);
  lines.take({ socketId: "a", name: "Ann", x: 0, y: 0, path: [[0.2, 0]] }, 2000);
  lines.take({ socketId: "a", name: "Ann", x: 0, y: 0, path: [[0.3, 0], null, [0.9, 1]] }, 2500);
  const at = (time) => lines.at(time).map(({ points }) => points.map(({ x, strength }) => [x, strength]));
  assert.deepEqual(at(2500), [[[0, 1], [0.1, 1], [0.2, 1], [0.3, 1]], [[0.9, 1]]]);
  assert.deepEqual(at(3250), [[[0, 0.5], [0.1, 0.5], [0.2, 1], [0.3, 1]], [[0.9, 1]]]);
  // The part that leads to a point is as old as the point.
  assert.deepEqual(at(4000), [[[0.1, 0], [0.2, 2 / 3], [0.3, 1]], [[0.9, 1]]]);
  assert.deepEqual(at(5499).map((points) => points.length), [2, 1]);
  assert.deepEqual(at(5500), []);
  // What comes then begins a line.
  lines.take({ socketId: "a", name: "Ann", path: [[0.5, 0]] }, 6000);
  assert.deepEqual(at(6000), [[[0.5, 1]]]);
  lines.clear();
  assert.deepEqual(at(6000), []);
});

test("lines belong to people and tracks, and what isn't a place cuts them", () => {
  const lines = new Lines();
  lines.take({ socketId: "a", name: "Ann", track: "desk", path: [null, [0, 0]] }, 0);
  lines.take({ socketId: "b", name: "Bob", path: [[0.5, 0.5]] }, 0);
  lines.take({ socketId: "a", name: "Ann", track: "desk2", path: [[0.1, 0]] }, 0);
  const path = [[0.2, 0], [0.3, 1.1], [0.3, 0], "x", [0.4, 0]];
  lines.take({ socketId: "a", name: "A\u202enn", track: "desk2", path }, 0);
  for (const bad of [undefined, null, 7, "x", {}, [[1, 2]], [[0]], [["0", 0]], [[NaN, 0]], [[0, 0, 0]]]) {
    lines.take({ socketId: "c", name: "Cid", path: bad }, 0);
  }
  lines.take({ name: "Ann", path: [[0, 0]] }, 0);
  assert.deepEqual(lines.at(0).map(({ id, name, track, points }) => [id, name, track, points.map(({ x }) => x)]), [
    ["a", "Ann", "desk", [0]], ["a", "Ann", "desk2", [0.1, 0.2]], ["a", "Ann", "desk2", [0.3]],
    ["a", "Ann", "desk2", [0.4]], ["b", "Bob", null, [0.5]],
  ]);
});

test("however much is drawn while nothing is shown, little is kept", () => {
  const lines = new Lines();
  const path = Array.from({ length: 16 }, (_, index) => (index === 0 ? null : [index / 16, 0]));
  for (let number = 0; number < 1000; number += 1) lines.take({ socketId: `${number % 100}`, name: "", path }, number);
  for (let number = 0; number < 100; number += 1) lines.take({ socketId: "7", name: "", path }, 1000);
  lines.take({ socketId: "7", name: "", path: [[1, 1]] }, 1000);
  const shown = lines.at(1000);
  assert.equal(new Set(shown.map(({ id }) => id)).size, 50);
  const own = shown.filter(({ id }) => id === "7").flatMap(({ points }) => points);
  assert.equal(own.length, 600);
  assert.equal(own.at(-1).x, 1);
});

test("a line is divided where its strength changes, without gaps", () => {
  const point = (x, strength) => ({ x, y: 0, strength });
  const parts = partsOf([point(0, 0), point(1, 0.24), point(2, 0.25), point(3, 1), point(4, 1)]);
  assert.deepEqual(parts.map(({ strength, points }) => [strength, points.map(({ x }) => x)]), [
    [0.25, [0, 1, 2]], [1, [2, 3, 4]],
  ]);
  assert.deepEqual(partsOf([point(5, 1)]).map(({ points }) => points.length), [1]);
  const many = Array.from({ length: 600 }, (_, index) => point(index, index / 600));
  assert.ok(partsOf(many).length <= 13);
});

test("while there is a line without a dot, the name stays at its end", () => {
  const points = [{ x: 0, y: 0, strength: 0.2 }, { x: 0.5, y: 0.25, strength: 0.75 }];
  const line = (id) => ({ id, name: id.toUpperCase(), track: null, points });
  const dot = { id: "b", name: "B", track: null, x: 1, y: 1, opacity: 1 };
  assert.deepEqual(withNames([dot], [line("a"), line("b"), line(""), line("a")]), [
    dot, { id: "a", name: "A", track: null, x: 0.5, y: 0.25, opacity: 0.75, isNameOnly: true },
  ]);
});

/** A sender whose clock stands still until `pass(time)`; `sent` are the times, places and paths. */
function sending() {
  let now = 0;
  let next = null;
  const sent = [];
  const clock = {
    now: () => now,
    wait: (action, delay) => (next = { action, at: now + delay }),
    cancel: (timer) => { if (next === timer) next = null; },
  };
  const sender = new PointSender((place, path) => sent.push([now, place, path]), clock);
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

test("all that is drawn is sent in order, at most 30 times per second", () => {
  const { sender, sent, pass } = sending();
  const drawn = [];
  for (let time = 0; time < 1000; time += 4) {
    pass(time);
    const path = time % 200 === 0 ? [null, [time / 1000, 0]] : [[time / 1000, 0]];
    drawn.push(...path);
    sender.move({ track: "desk", x: time / 1000, y: 0 }, path);
  }
  pass(1100);
  assert.deepEqual(sent.flatMap(([, , path]) => path), drawn);
  assert.ok(sent.length <= 31, `${sent.length}`);
  // A pointer that rests is repeated without a path.
  pass(2000);
  assert.deepEqual(sent.slice(-2).map(([, place, path]) => [place.x, path]), [[0.996, []], [0.996, []]]);
});

test("the end of a line is sent even if the pointer has left its picture, or the laser is turned off", () => {
  const { sender, sent, pass } = sending();
  const here = { track: null, x: 0.5, y: 0 };
  const there = { track: null, x: 0.6, y: 0 };
  sender.move(here, [null, [0.5, 0]]);
  sender.move(there, [[0.6, 0]]);
  sender.move(null);
  pass(5000);
  assert.deepEqual(sent, [[0, here, [null, [0.5, 0]]], [34, there, [[0.6, 0]]], [68, null, []]]);
  sender.move(here, [null, [0.5, 0]]);
  sender.move(there, [[0.6, 0]]);
  sender.stop();
  pass(9000);
  assert.deepEqual(sent.slice(3), [
    [5000, here, [null, [0.5, 0]]], [5000, there, [[0.6, 0]]], [5000, null, []],
  ]);
  // On another picture, too.
  const beside = { track: "desk2", x: 0.1, y: 0 };
  sender.move(here);
  sender.move(there, [null, [0.6, 0]]);
  sender.move(beside, [null, [0.1, 0]]);
  sender.move(here);
  pass(9400);
  assert.deepEqual(sent.slice(6), [
    [9000, here, []], [9000, there, [null, [0.6, 0]]], [9034, beside, [null, [0.1, 0]]], [9068, here, []],
  ]);
});

const target = { setPointerCapture: () => {} };
const video = {};
const large = { video, track: "desk", box: box(0, 0, 400, 400), size: box(0, 0, 100, 100), clip: box(0, 0, 400, 400) };
const small = { ...large, video: {}, track: "desk2", box: box(400, 0, 100, 100), clip: box(400, 0, 100, 100) };
const pictures = [large, small];
const event = (type, clientX, clientY, more = {}) => (
  { type, clientX, clientY, pointerId: 1, isPrimary: true, button: 0, buttons: 1, target, ...more });

test("a press draws a line with all places of the pointer, until it is released", () => {
  const pen = new Pen();
  const move = event("pointermove", 300, 100);
  assert.deepEqual(pen.draw(move, pictures), { path: [], end: null });
  const down = event("pointerdown", 100, 100);
  pen.press(down, pictures, false);
  assert.deepEqual(pen.draw(down, pictures), { path: [null, [0.25, 0.25]], end: { track: "desk", x: 0.25, y: 0.25 } });
  assert.ok(pen.isDown && !pen.hasDrawn);
  const fast = { ...move, getCoalescedEvents: () => [event("pointermove", 200, 100), move] };
  assert.deepEqual(pen.draw(fast, pictures).path, [[0.5, 0.25], [0.75, 0.25]]);
  assert.ok(pen.hasDrawn);
  assert.deepEqual(pen.draw({ ...move, getCoalescedEvents: () => [] }, pictures).path, [[0.75, 0.25]]);
  // Another finger draws nothing, and doesn't end the line.
  const other = { pointerId: 2, isPrimary: false };
  pen.press(event("pointerdown", 0, 0, other), pictures, false);
  assert.deepEqual(pen.draw(event("pointerup", 0, 0, other), pictures).path, []);
  assert.deepEqual(pen.draw(event("pointermove", 100, 100), pictures).path, [[0.25, 0.25]]);
  pen.draw(event("pointerup", 100, 100, { buttons: 0 }), pictures);
  assert.ok(!pen.isDown && pen.hasDrawn);
  assert.deepEqual(pen.draw(move, pictures).path, []);
  // A release that the page wasn't told of ends it as well.
  pen.press(down, pictures, false);
  assert.deepEqual(pen.draw(event("pointermove", 100, 100, { buttons: 0 }), pictures).path, []);
  assert.ok(!pen.isDown);
});

test("a line stays on its picture, and is cut where the pointer leaves it", () => {
  const pen = new Pen();
  const down = event("pointerdown", 300, 200);
  pen.press(down, pictures, false);
  pen.draw(down, pictures);
  const outside = event("pointermove", 450, 50);
  assert.deepEqual(pen.draw(outside, pictures), { path: [], end: null });
  assert.equal(pen.place(outside, pictures), null);
  assert.deepEqual(pen.draw(event("pointermove", 200, 200), pictures).path, [null, [0.5, 0.5]]);
  const leaving = [event("pointermove", 100, 200), outside];
  const { path, end } = pen.draw({ ...outside, getCoalescedEvents: () => leaving }, pictures);
  assert.deepEqual([path, end], [[[0.25, 0.5]], { track: "desk", x: 0.25, y: 0.5 }]);
  // If the picture shows another track now, the line is over.
  const changed = [{ ...large, track: "attic" }, small];
  assert.deepEqual(pen.draw(event("pointermove", 100, 200), changed).path, []);
  pen.lift();
  assert.equal(pen.place(outside, pictures).track, "desk2");
});

test("a click on a small picture draws nothing, and neither does another button or a press elsewhere", () => {
  const pen = new Pen();
  const down = event("pointerdown", 420, 50);
  pen.press(down, pictures, true);
  assert.deepEqual(pen.draw(down, pictures).path, []);
  assert.deepEqual(pen.draw(event("pointermove", 423, 50), pictures).path, []);
  assert.ok(!pen.hasDrawn);
  assert.deepEqual(pen.draw(event("pointermove", 450, 50), pictures).path, [null, [0.2, 0.5], [0.5, 0.5]]);
  assert.ok(pen.hasDrawn);
  for (const [press, on] of [[event("pointerdown", 100, 100, { button: 2 }), pictures], [down, []], [down, [large]]]) {
    pen.press(press, on, false);
    assert.ok(!pen.isDown && !pen.hasDrawn);
  }
});

test("two rectangles have a rectangle in common, or none", () => {
  assert.deepEqual(overlap(box(0, 0, 10, 10), box(5, -5, 10, 10)), box(5, 0, 5, 5));
  assert.equal(overlap(box(0, 0, 10, 10), box(10, 0, 10, 10)), null);
  assert.equal(overlap(box(0, 0, 10, 10), box(2, 2, 0, 5)), null);
});
