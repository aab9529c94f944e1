// What a pressed pointer draws: a line on the picture where the press began, cut where the pointer leaves it.

import { placeAt } from "./pointplace.js";

// How far a pointer may move during a click, in CSS pixels.
const TREMBLE = 6;

export class Pen {
  /** `{id, video, track, x, y, isDrawing, isNew}`; null while nothing is pressed. */
  #press = null;
  #hasDrawn = false;

  get isDown() {
    return this.#press !== null;
  }

  /** Whether the latest press has drawn more than a point, and is no click. */
  get hasDrawn() {
    return this.#hasDrawn;
  }

  /**
   * Handles `pointerdown` over one of `pictures`, which are as in `placeAt`, each with its `video`. With `isClick`, the
   * press draws only once it has moved.
   */
  press(event, pictures, isClick) {
    if (!event.isPrimary) return;
    this.lift();
    const point = { x: event.clientX, y: event.clientY };
    const picture = event.button === 0 ? pictures.find((one) => placeAt([one], point)) : null;
    if (!picture) return;
    const { video, track } = picture;
    this.#press = { id: event.pointerId, video, track, ...point, isDrawing: !isClick, isNew: true };
    // What is drawn goes on where the pointer returns to the picture from outside the window.
    event.target.setPointerCapture?.(event.pointerId);
  }

  lift() {
    this.#press = null;
    this.#hasDrawn = false;
  }

  /**
   * Returns what a pointer's event has drawn: `path`, with places `[x, y]` and null where a line begins, and `end`, the
   * last of these places as `placeAt` gives it; null if there is none.
   */
  draw(event, pictures) {
    const path = [];
    let end = null;
    const press = this.#press;
    if (press === null || event.pointerId !== press.id) return { path, end };
    const isMove = event.type === "pointermove";
    // An end outside the window may not be told.
    if (isMove ? (event.buttons & 1) === 0 : event.type !== "pointerdown") {
      this.#press = null;
      return { path, end };
    }
    const own = this.#own(pictures);
    const add = (point) => {
      const place = placeAt(own, point);
      if (place && press.isNew) path.push(null);
      if (place) path.push([place.x, place.y]);
      press.isNew = place === null;
      end = place ?? end;
    };
    const events = (isMove && event.getCoalescedEvents?.()) || [];
    for (const { clientX: x, clientY: y } of events.length > 0 ? events : [event]) {
      this.#hasDrawn ||= Math.hypot(x - press.x, y - press.y) > TREMBLE;
      if (!press.isDrawing && this.#hasDrawn) {
        press.isDrawing = true;
        add(press);
      }
      if (press.isDrawing) add({ x, y });
    }
    return { path, end };
  }

  /** Where a pointer's event is: while it draws, only on the picture of its line. */
  place(event, pictures) {
    const isOurs = event.pointerId === this.#press?.id;
    return placeAt(isOurs ? this.#own(pictures) : pictures, { x: event.clientX, y: event.clientY });
  }

  #own(pictures) {
    return pictures.filter(({ video, track }) => video === this.#press.video && track === this.#press.track);
  }
}
