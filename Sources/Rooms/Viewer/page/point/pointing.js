// Pointing at the picture with a dot that all pages of the room show, and drawing lines that fade. The page loads this
// file, and those it imports, when a viewer points or the user turns the laser on.

import { Dots } from "./dots.js";
import { element } from "../element.js";
import { Pen } from "./pen.js";
import { Lines, withNames } from "./penlines.js";
import { thinned } from "./penpath.js";
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

/**
 * The dots and lines of all who point, and the user's own laser, with which a press draws. `laser` is its button, which
 * is hidden while pointing isn't allowed.
 */
class Pointing {
  #viewer;
  #laser;
  #scroller = byId("scroller");
  #dots = new Dots();
  #lines = new Lines();
  #view = new PointView();
  #sender = new PointSender((place, path) => this.#sent(place, path));
  #pen = new Pen();
  /** The end of the line that was sent last. */
  #end = null;
  #isOn = false;
  #hint = null;
  #isHinted = false;
  #frame = null;

  constructor(viewer, laser) {
    this.#viewer = viewer;
    this.#laser = laser;
    const stage = byId("stage");
    // Before the gestures: with the laser on, a press draws instead of panning.
    for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      stage.addEventListener(type, (event) => this.#moved(event), { capture: true, passive: true });
    }
    stage.addEventListener("dblclick", (event) => {
      if (this.#isOn && this.#scroller.contains(event.target)) event.stopPropagation();
    }, { capture: true });
    // A line that was drawn over a small picture doesn't choose its track, and selects no text.
    stage.addEventListener("click", (event) => {
      if (this.#pen.hasDrawn && event.detail > 0) event.stopPropagation();
    }, { capture: true });
    stage.addEventListener("mousedown", (event) => {
      if (this.#pen.isDown) event.preventDefault();
    });
    stage.addEventListener("pointerleave", () => this.#sender.move(null));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#sender.move(null);
    });
    for (const type of ["_peers", "_pointing", "left"]) {
      viewer.addEventListener(type, () => {
        if (type === "left" || laser.hidden) this.#turn(false);
        this.#dots.clear();
        // What comes now doesn't continue a line of which a part may have been lost.
        this.#lines.clear();
        this.#schedule();
      });
    }
  }

  take(data) {
    const now = performance.now();
    this.#dots.take(data, now);
    this.#lines.take(data, now);
    this.#schedule();
  }

  /** Turns the laser on or off, or asks a user without a name for it. */
  toggle() {
    if (this.#laser.hidden) return;
    if (!this.#isOn && !this.#viewer.introduction.name) return this.#askName();
    this.#turn(!this.#isOn);
    if (this.#isOn && !this.#isHinted) {
      this.#isHinted = true;
      this.#tell(words.draws);
    }
  }

  #turn(isOn) {
    this.#isOn = isOn;
    this.#laser.setAttribute("aria-pressed", String(isOn));
    this.#scroller.style.cursor = isOn ? "crosshair" : "";
    // A finger on the other pictures draws, too, and doesn't move the list of them.
    byId("tracks").querySelector(".track-list").style.touchAction = isOn ? "none" : "";
    this.#pen.lift();
    if (!isOn) this.#sender.stop();
  }

  #askName() {
    this.#viewer.tell("nameless", {});
    this.#tell(words.needsName);
  }

  #tell(text) {
    this.#hint?.remove();
    const hint = element("p", "notice", { role: "status" }, text);
    this.#hint = hint;
    byId("view").append(hint);
    setTimeout(() => hint.remove(), HINT_TIME);
  }

  #moved(event) {
    if (!this.#isOn) return;
    const isTouch = event.pointerType === "touch";
    const isOnScroller = this.#scroller.contains(event.target);
    const isOver = isOnScroller || Boolean(event.target.closest(".track"));
    const isEnd = event.type === "pointerup" || event.type === "pointercancel";
    const pictures = isOver ? this.#boxes : [];
    if (event.type === "pointerdown") {
      // While we aren't in the room, there is nobody to draw for.
      this.#pen.press(event, this.#viewer.visit === null ? [] : pictures, !isOnScroller);
    }
    const { path, end } = this.#pen.draw(event, pictures);
    // The gestures are told of each end, because a press may have begun before the laser was turned on.
    if (isOnScroller && !isEnd && (isTouch || this.#pen.isDown)) event.stopPropagation();
    // Of several fingers, the first one points.
    if (!event.isPrimary) return;
    // As without the laser, a tap shows the bar: its button turns the laser off.
    if (isTouch && isEnd && isOnScroller && !this.#pen.hasDrawn) document.dispatchEvent(new Event("focusin"));
    const place = isTouch && isEnd ? null : this.#pen.place(event, pictures);
    if (end) {
      const { name } = this.#viewer.introduction;
      this.#lines.take({ socketId: "", name, track: end.track, path }, performance.now());
      this.#schedule();
      this.#sender.move(place ?? end, path);
    }
    if (!end || !place) this.#sender.move(place);
  }

  /** Sends our place and what we have drawn, and shows the place here, where our own dot has no id. */
  #sent(place, path) {
    // A host takes few messages before it has let us in.
    if (this.#viewer.visit === null) return;
    const { x, y, track } = place ?? {};
    const isNamed = typeof track === "string" && this.#viewer.tracks.all.length > 1;
    const data = place === null ? {} : { x, y, ...(isNamed ? { track } : {}) };
    if (path.length > 0) data.path = thinned(path, this.#end);
    this.#end = path.at(-1) ?? this.#end;
    this.#viewer.send("__point", data);
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
      return { video, track, box, clip, size: { width: video.videoWidth, height: video.videoHeight } };
    });
  }

  #schedule() {
    if (this.#frame !== null) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = null;
      const now = performance.now();
      const [dots, lines] = [this.#dots.at(now), this.#lines.at(now)];
      this.#view.draw(withNames(dots, lines), lines, this.#pictures.map(({ video, track }, index) => ({
        video, clip: index === 0 ? this.#scroller : video,
        shows: (name) => (index === 0 ? this.#viewer.tracks.isShown(name) : name === track),
      })));
      if (dots.length + lines.length > 0) this.#schedule();
    });
  }
}
