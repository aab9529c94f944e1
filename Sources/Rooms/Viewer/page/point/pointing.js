// Pointing at the picture with a dot that all pages of the room show. The page loads this file, and those it imports,
// when a viewer points or the user turns the laser on.

import { Dots } from "./dots.js";
import { element } from "../element.js";
import { placeAt } from "./pointplace.js";
import { PointSender } from "./pointsender.js";
import { PointView } from "./pointview.js";
import { words } from "./pointwords.js";

/** @type {(id: string) => any} */
const byId = (id) => document.getElementById(id);

// In milliseconds.
const HINT_TIME = 5000;

/** @type {any} */
let pointing = null;

/** Handles `_point`, whose data `detail` is, or turns the laser on or off if `detail` is no data. */
export function point(viewer, laser, detail) {
  pointing ??= new Pointing(viewer, laser);
  if (typeof detail === "object") pointing.take(detail);
  else pointing.toggle();
}

/** The dots of all who point, and the user's own laser. `laser` is its button, hidden while pointing isn't allowed. */
class Pointing {
  #viewer;
  #laser;
  #scroller = byId("scroller");
  #dots = new Dots();
  #view = new PointView();
  #sender = new PointSender((place) => this.#sent(place));
  #isOn = false;
  #isTouched = false;
  #frame = null;

  constructor(viewer, laser) {
    this.#viewer = viewer;
    this.#laser = laser;
    const stage = byId("stage");
    // Before the gestures: a finger points instead of panning.
    for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      stage.addEventListener(type, (event) => this.#moved(event), { capture: true, passive: true });
    }
    stage.addEventListener("dblclick", (event) => {
      if (this.#isOn && this.#isTouched) event.stopPropagation();
    }, { capture: true });
    stage.addEventListener("pointerleave", () => this.#sender.move(null));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#sender.move(null);
    });
    for (const type of ["_peers", "_pointing", "left"]) {
      viewer.addEventListener(type, () => {
        if (type !== "left" && !laser.hidden) return;
        this.#turn(false);
        this.#dots.clear();
        this.#schedule();
      });
    }
  }

  take(data) {
    this.#dots.take(data, performance.now());
    this.#schedule();
  }

  /** Turns the laser on or off, or asks a user without a name for it. */
  toggle() {
    if (this.#laser.hidden) return;
    if (!this.#isOn && !this.#viewer.introduction.name) return this.#askName();
    this.#turn(!this.#isOn);
  }

  #turn(isOn) {
    this.#isOn = isOn;
    this.#laser.setAttribute("aria-pressed", String(isOn));
    this.#scroller.style.cursor = isOn ? "crosshair" : "";
    if (!isOn) this.#sender.stop();
  }

  #askName() {
    this.#viewer.tell("nameless", {});
    const hint = element("p", "notice", { role: "status" }, words.needsName);
    byId("view").append(hint);
    setTimeout(() => hint.remove(), HINT_TIME);
  }

  #moved(event) {
    if (!this.#isOn) return;
    const isTouch = event.pointerType === "touch";
    this.#isTouched = isTouch;
    const isOnScroller = this.#scroller.contains(event.target);
    if (isTouch && isOnScroller) event.stopPropagation();
    const isOver = isOnScroller || Boolean(event.target.closest(".track"));
    const isLifted = isTouch && (event.type === "pointerup" || event.type === "pointercancel");
    const place = isOver && !isLifted ? placeAt(this.#boxes, { x: event.clientX, y: event.clientY }) : null;
    this.#sender.move(place);
  }

  /** Sends our place, and shows it here, where our own dot has no id. */
  #sent(place) {
    // A host takes few messages before it has let us in.
    if (this.#viewer.visit === null) return;
    const { x, y, track } = place ?? {};
    const isNamed = typeof track === "string" && this.#viewer.tracks.all.length > 1;
    this.#viewer.send("__point", place === null ? {} : { x, y, ...(isNamed ? { track } : {}) });
    this.#dots.take({ socketId: "", name: this.#viewer.introduction.name, track, x, y }, performance.now());
    this.#schedule();
  }

  /** The pictures on the page, the large one first, each with its track's name; null for a room's only track. */
  get #pictures() {
    const { all, shown } = this.#viewer.tracks;
    const small = [...document.querySelectorAll("#tracks .track video")];
    const others = small.map((video, index) => ({ video, track: all[index]?.name ?? null }));
    return [{ video: byId("video"), track: shown }, ...others];
  }

  get #boxes() {
    return this.#pictures.map(({ video, track }, index) => {
      const box = video.getBoundingClientRect();
      const clip = index === 0 ? this.#scroller.getBoundingClientRect() : box;
      return { track, box, clip, size: { width: video.videoWidth, height: video.videoHeight } };
    });
  }

  #schedule() {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      const dots = this.#dots.at(performance.now());
      this.#view.draw(dots, this.#pictures.map(({ video, track }, index) => ({
        video, shows: (name) => (index === 0 ? this.#viewer.tracks.isShown(name) : name === track),
      })));
      if (dots.length > 0) this.#schedule();
    });
  }
}
