// Runs before the page's own scripts: gives the viewer a name, without which it may not point, and notes the pointer's
// events.

window.pointingBench = {
  events: [],

  /** The events since the last call: x and y in the window, their time stamps, and when they came here. */
  take() {
    const taken = this.events;
    this.events = [];
    return taken;
  },
};

try {
  localStorage.setItem("screenrelay.name", NAME);
} catch {}

addEventListener("pointermove", ({ clientX, clientY, timeStamp }) => {
  window.pointingBench.events.push([clientX, clientY, timeStamp, performance.now()]);
}, { capture: true, passive: true });
