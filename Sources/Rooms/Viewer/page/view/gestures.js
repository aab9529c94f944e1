// Mouse, wheel and touch on the picture: drag to pan, Ctrl + wheel or a pinch to zoom, tap to show or hide the bar.

// Wheel pixels for one step of zoom; how far a finger may move during a tap; the milliseconds of a tap and between two.
const WHEEL_STEP = 100;
const TREMBLE = 10;
const TAP_TIME = 350;
const DOUBLE_TAP_SCALE = 2.5;

export class Gestures {
  #scroller = document.getElementById("scroller");
  #view;
  #pointers = new Map();
  #tap = null;
  #lastTap = null;

  /** Called for a single tap, and for a double click. */
  onTap = () => {};
  onDoubleClick = () => {};

  constructor(view) {
    this.#view = view;
    const on = (type, action, options) => this.#scroller.addEventListener(type, action, options);
    on("wheel", (event) => this.#wheel(event), { passive: false });
    on("pointerdown", (event) => this.#down(event));
    on("pointermove", (event) => this.#move(event));
    for (const type of ["pointerup", "pointercancel"]) on(type, (event) => this.#up(event));
    on("dblclick", () => {
      if (this.#lastTap === null) this.onDoubleClick();
    });
  }

  #wheel(event) {
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 40 : 1;
    // A pinch on a touch pad arrives as a wheel event with Ctrl.
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const steps = Math.max(-3, Math.min(3, (-event.deltaY * unit) / WHEEL_STEP));
      this.#view.zoom(steps, { x: event.clientX, y: event.clientY });
    } else {
      const [right, down] = event.shiftKey ? [event.deltaY, event.deltaX] : [event.deltaX, event.deltaY];
      if (this.#view.pan(-right * unit, -down * unit)) event.preventDefault();
    }
  }

  #down(event) {
    if (event.button !== 0) return;
    this.#scroller.setPointerCapture(event.pointerId);
    const isFirst = this.#pointers.size === 0;
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const isTap = isFirst && event.pointerType === "touch";
    this.#tap = isTap ? { x: event.clientX, y: event.clientY, time: event.timeStamp } : null;
    if (event.pointerType !== "touch") this.#lastTap = null;
  }

  #move(event) {
    const before = this.#pointers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    if (this.#tap && Math.hypot(now.x - this.#tap.x, now.y - this.#tap.y) > TREMBLE) this.#tap = null;
    if (this.#pointers.size === 1) this.#view.pan(now.x - before.x, now.y - before.y);
    if (this.#pointers.size === 2) this.#pinch(event.pointerId, before, now);
    this.#pointers.set(event.pointerId, now);
  }

  #pinch(id, before, now) {
    const [, other] = [...this.#pointers].find(([key]) => key !== id);
    const spread = (point) => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
    this.#view.zoomBy(spread(now) / spread(before), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
    this.#view.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
  }

  #up(event) {
    if (!this.#pointers.delete(event.pointerId)) return;
    const tap = this.#tap;
    this.#tap = null;
    if (!tap || event.type !== "pointerup" || event.timeStamp - tap.time > TAP_TIME) return;
    const last = this.#lastTap;
    this.#lastTap = { ...tap, time: event.timeStamp };
    const isSecond = last && event.timeStamp - last.time < TAP_TIME && Math.hypot(tap.x - last.x, tap.y - last.y) < 40;
    if (!isSecond) return this.onTap();
    if (this.#view.mode === "fit") this.#view.zoomBy(DOUBLE_TAP_SCALE, tap);
    else this.#view.setMode("fit");
  }
}
