// Whose turn it is to present, as the host says (`Protocol/rooms.md`).

import { cleanName } from "../element.js";

const MOST_LISTED = 50;

/** The turns in the room that our page is told. */
export class Turns {
  /** Our own: "none", "asked", "granted" or "owner"; null in a room without presenters. */
  own = null;
  /** Those that we decide about, each with `id`, `name` (may be empty) and `turn`, in the order of their requests. */
  members = [];

  constructor(viewer) {
    viewer.addEventListener("_peers", ({ detail }) => {
      this.own = typeof detail.turn === "string" ? detail.turn : null;
      this.members = [];
    });
    viewer.addEventListener("_turn", ({ detail }) => {
      this.own = typeof detail.turn === "string" ? detail.turn : null;
      if (!this.mayPresent) this.members = [];
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
