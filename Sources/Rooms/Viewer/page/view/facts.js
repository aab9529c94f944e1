// The page's state for outside observers, such as tests.

import { language } from "../words/messages.js";

/** Makes it `window.screenRelay`, which is read-only. `page`: the parts of the page; some come later or not at all. */
export function publishFacts(page) {
  window.screenRelay = Object.freeze({
    get phase() {
      return page.viewer.phase;
    },
    get error() {
      return page.viewer.error;
    },
    get framesDecoded() {
      return page.viewer.framesDecoded;
    },
    get videoWidth() {
      return page.stage.pictureSize.width;
    },
    get videoHeight() {
      return page.stage.pictureSize.height;
    },
    get reconnects() {
      return page.viewer.reconnects;
    },
    get isByWebSocket() {
      return page.viewer.reception?.isByWebSocket === true;
    },
    get source() {
      return page.viewer.source.state;
    },
    get sound() {
      return page.viewer.sound;
    },
    get isListening() {
      return !page.video.muted;
    },
    get audioLevel() {
      return page.viewer.reception?.counted?.soundLevel ?? 0;
    },
    get pointer() {
      return page.pointer.state;
    },
    get delay() {
      return page.delay.state;
    },
    get figures() {
      return page.measurements.line.join(" · ");
    },
    get mode() {
      return page.view.mode;
    },
    get scale() {
      return page.view.scale;
    },
    get language() {
      return language;
    },
    get tracks() {
      return page.tracks.facts;
    },
    get people() {
      return page.people.facts;
    },
    get meeting() {
      return page.meeting?.facts ?? null;
    },
    get presenting() {
      return page.presenting?.facts ?? null;
    },
  });
}
