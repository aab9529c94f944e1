// Whose turn it is to present, as the host says (`Protocol/rooms.md`).

import { cleanName } from "../element.js";

const MOST_LISTED = 50;

/** The turns in the room that our page is told. */
export class Turns {
  /** Our own: "none", "asked", "granted" or "owner"; null in a room without presenters. */
  own = null;
  /** When our turn ends, or when we may ask again: on the clock of `performance.now()`; NaN if that isn't limited. */
  end = NaN;
  /** What is asked of our camera: {width, height, frameRate}. */
  camera;
  /** Those that we decide about, each with `id`, `name` (may be empty) and `turn`, in the order of their requests. */
  members = [];

  constructor(viewer) {
    for (const type of ["_peers", "_turn"]) viewer.addEventListener(type, ({ detail }) => {
      this.own = typeof detail.turn === "string" ? detail.turn : null;
      this.end = performance.now() + (detail.turnLeft ?? detail.turnWait) * 1000;
      if (type === "_peers" || !this.mayPresent) this.members = [];
      this.camera = detail.camera ?? this.camera;
    });
    viewer.addEventListener("_turns", ({ detail }) => {
      const members = Array.isArray(detail.members) ? detail.members.slice(0, MOST_LISTED) : [];
      this.members = members.filter((member) => typeof member?.socketId === "string")
        .map(({ socketId, name, turn }) => ({ id: socketId, name: cleanName(name), turn }));
    });
  }

  /** Whether we may present. */
  get mayPresent() {
    return this.own === "granted" || this.own === "owner";
  }

  /** How many of the members ask for the turn. */
  get requests() {
    return this.members.filter(({ turn }) => turn === "asked").length;
  }
}

/** What we, whose turn is `own`, may do about a member whose turn is `turn`: actions of `__turn`. */
export function actionsOn(turn, own, isSharing) {
  if (turn !== "asked") return own === "owner" ? ["end"] : [];
  if (own !== "owner") return ["pass"];
  return isSharing ? ["pass", "allow", "decline"] : ["allow", "decline"];
}
