// The speaker that plays the page's sound.

import { keepDevices, recallDevices } from "./chosen.js";

// Chromium lists these besides the devices for which they stand.
const ALIASES = new Set(["default", "communications"]);

/** Whether this browser lets a page choose the speaker. */
export function canChooseSpeaker() {
  const { HTMLMediaElement: Media } = /** @type {any} */ (globalThis);
  return typeof Media?.prototype.setSinkId === "function";
}

/** Whether there are several speakers that this page may use. Browsers list them only to pages that may listen. */
export const hasSpeakers = async () => {
  const all = await navigator.mediaDevices?.enumerateDevices().catch(() => null) ?? [];
  return all.filter(({ kind, deviceId }) => kind === "audiooutput" && deviceId && !ALIASES.has(deviceId)).length > 1;
};

/** Plays `media` (an element or an AudioContext) on the chosen speaker, or on the default one if that is gone. */
export const playOnChosen = async (media) => {
  if (typeof media.setSinkId !== "function") return;
  const { speaker = "" } = recallDevices();
  try {
    // Once it was gone, the browser has to be told again when it is back.
    if (speaker || media.sinkId) await media.setSinkId(speaker);
  } catch {
    await media.setSinkId("").catch(() => {});
  }
};

/**
 * Keeps the choice of the speaker with this id, and plays all that the page plays on it. What plays without an element
 * gets the event "speakerchosen" of the document.
 */
export function chooseSpeaker(id) {
  keepDevices({ speaker: id || undefined });
  for (const media of document.querySelectorAll("video, audio")) playOnChosen(media);
  document.dispatchEvent(new CustomEvent("speakerchosen"));
}
