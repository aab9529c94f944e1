// The document and the panel of the choice of devices, for its tests.

import { FakeElement } from "./fakeelement.mjs";
import { settled } from "./devices.mjs";
import { DeviceChoice } from "../../../../Sources/Rooms/Viewer/page/choice/choice.js";

const ASKED = { width: 1280, height: 720, frameRate: 30 };

FakeElement.prototype.play = async () => {};
document.head = new FakeElement("head");
document.querySelectorAll = () => [];
export const events = new EventTarget();
for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"]) {
  document[name] = (...words) => events[name](...words);
}

/** Finds what has this id in `root`. */
export function find(root, id) {
  if (root.getAttribute("id") === id) return root;
  for (const child of root.children.filter((one) => one instanceof FakeElement)) {
    const found = find(child, id);
    if (found) return found;
  }
  return null;
}
document.getElementById = (id) => find(document.head, id);

/** An audio context whose microphone is at half its level. */
export class FakeContext extends EventTarget {
  static open = 0;
  /** Whether it has another rate than the microphone. */
  static isUnfit = false;
  state = "running";
  sinkId = "";

  constructor() {
    super();
    FakeContext.open += 1;
  }

  createAnalyser() {
    return { fftSize: 4, getFloatTimeDomainData: (samples) => samples.fill(0.5), connect: (next) => next };
  }

  createGain() {
    return { gain: {}, connect: (next) => next };
  }

  createMediaStreamSource() {
    if (FakeContext.isUnfit) throw new DOMException("", "NotSupportedError");
    return { connect() {} };
  }

  async setSinkId(id) {
    this.sinkId = id;
  }

  async close() {
    FakeContext.open -= 1;
  }
}
globalThis.AudioContext = FakeContext;
globalThis.requestAnimationFrame = () => 1;
globalThis.cancelAnimationFrame = () => {};

/** Opens the panel of a share. */
export async function choose() {
  const place = new FakeElement("div");
  const told = [];
  const choice = new DeviceChoice(place, ASKED, {
    onTrack: async (kind, track) => told.push([kind, track?.device.deviceId ?? null]),
    onEnded: () => told.push("ended"),
  });
  const stream = choice.choose();
  stream.catch(() => {});
  await settled();
  return { place, told, choice, stream, part: (id) => find(place, `choice-${id}`) };
}
