// The lines that people draw while they point, and how they fade. Nothing here accesses the page.

import { cleanName } from "../element.js";

// In milliseconds since a point was drawn.
const FADES_AFTER = 1500;
const GONE_AFTER = 3000;
const MOST_PEOPLE = 50;
const MOST_POINTS = 600;
// The strengths at which lines are drawn.
const LEVELS = 12;

/** How strong a line is, from 0 to 1, where it was drawn `age` milliseconds ago. */
export function strengthAt(age) {
  return Math.max(0, Math.min(1, (GONE_AFTER - age) / (GONE_AFTER - FADES_AFTER)));
}

const isPlace = (step) => Array.isArray(step) && step.length === 2
  && step.every((value) => Number.isFinite(value) && value >= 0 && value <= 1);

export class Lines {
  /** By their ids: `{name, lines, isDown}`; each line is `{track, points}`, and the last one goes on while `isDown`. */
  #people = new Map();

  /** Handles the path of `_point`, which came at `now`: places, and null where another line begins. */
  take({ socketId, name, track, path }, now) {
    if (typeof socketId !== "string" || !Array.isArray(path)) return;
    const person = this.#people.get(socketId) ?? { name: "", lines: [], isDown: false };
    if (!this.#people.has(socketId)) {
      if (this.#people.size >= MOST_PEOPLE) return;
      this.#people.set(socketId, person);
    }
    person.name = cleanName(name);
    const known = typeof track === "string" ? track : null;
    for (const step of path.slice(-MOST_POINTS)) {
      if (!isPlace(step)) {
        person.isDown = false;
        continue;
      }
      if (!person.isDown || person.lines.at(-1)?.track !== known) person.lines.push({ track: known, points: [] });
      person.isDown = true;
      person.lines.at(-1).points.push({ x: step[0], y: step[1], time: now });
    }
    this.#limit(person);
  }

  /** The lines that are shown at `now`: `{id, name, track, points}`, with `x`, `y` and `strength` of each point. */
  at(now) {
    const shown = [];
    for (const [id, person] of this.#people) {
      for (const line of person.lines) {
        const first = line.points.findIndex(({ time }) => strengthAt(now - time) > 0);
        // The point before it is where the line to it begins.
        line.points.splice(0, first < 0 ? Infinity : Math.max(0, first - 1));
      }
      person.lines = person.lines.filter(({ points }) => points.length > 0);
      if (person.lines.length === 0) this.#people.delete(id);
      for (const { track, points } of person.lines) {
        const faded = points.map(({ x, y, time }) => ({ x, y, strength: strengthAt(now - time) }));
        shown.push({ id, name: person.name, track, points: faded });
      }
    }
    return shown;
  }

  clear() {
    this.#people.clear();
  }

  /** Drops a person's oldest points if there are too many, as when nothing is drawn in a window that isn't visible. */
  #limit({ lines }) {
    let surplus = lines.reduce((sum, { points }) => sum + points.length, 0) - MOST_POINTS;
    while (surplus > 0) {
      surplus -= lines[0].points.splice(0, surplus).length;
      if (lines[0].points.length === 0) lines.shift();
    }
  }
}

/**
 * Divides a line into parts of about the same strength: `{strength, points}`. Each begins where the one before ends. A
 * part between two points is as old as the second one.
 */
export function partsOf(points) {
  const level = ({ strength }) => Math.ceil(strength * LEVELS) / LEVELS;
  if (points.length === 1) return [{ strength: level(points[0]), points }];
  const parts = [];
  for (let index = 1; index < points.length; index += 1) {
    const strength = level(points[index]);
    const last = parts.at(-1);
    if (last?.strength === strength) last.points.push(points[index]);
    else parts.push({ strength, points: [points[index - 1], points[index]] });
  }
  return parts;
}

/** `dots`, and for each person whose lines are shown without a dot, the name alone, where the latest line ends. */
export function withNames(dots, lines) {
  const pointing = new Set(dots.map(({ id }) => id));
  const names = new Map();
  for (const { id, name, track, points } of lines) {
    const { x, y, strength } = points.at(-1);
    // Our own lines, which have no id, are without a name.
    if (id === "" || pointing.has(id)) continue;
    names.set(id, { id, name, track, x, y, opacity: strength, isNameOnly: true });
  }
  return [...dots, ...names.values()];
}
