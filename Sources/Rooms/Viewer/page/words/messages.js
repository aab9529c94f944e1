// The page's texts in the reader's language: `words` are short texts, and `messages` appear on the card or in the
// notice. A message has a title, a detail (may be empty), and a tone: "wait" while the page keeps trying, "error" when
// it has stopped, "end" when there is nothing to wait for.

import { english } from "./english.js";
import { chinese } from "./chinese.js";
import { chooseLanguage } from "./language.js";

const tables = { en: english, zh: chinese };

/** "en" or "zh". */
export const language = chooseLanguage(location.search, navigator.languages ?? [navigator.language]);

/** Texts by their key. Some are functions of the values to insert. Both tables have the same keys. */
export const words = tables[language];

/** Writes the texts into the elements of `root` that name a key. */
export function writeWords(root) {
  for (const element of root.querySelectorAll("[data-words]")) element.textContent = words[element.dataset.words];
  for (const element of root.querySelectorAll("[data-label]")) label(element, words[element.dataset.label]);
}

/** Labels an element that has no text of its own: for screen readers and, on a button, as a tooltip. */
export function label(element, text) {
  element.setAttribute("aria-label", text);
  if (element.localName === "button") element.title = text;
}

const wait = ([title, detail = ""]) => ({ title, detail, tone: "wait" });
const error = ([title, detail = ""]) => ({ title, detail, tone: "error" });

/** Turns the host's reason into a sentence. */
const sentence = (text) =>
  text === "" ? "" : text[0].toUpperCase() + text.slice(1) + (/[.!?。！？]$/.test(text) ? "" : words.stop);

export const messages = {
  connecting: () => wait([words.opening]),
  negotiating: () => wait([words.opening, words.hostIsThere]),
  retrying: (reason, seconds) => ({
    ...reason,
    detail: [reason.detail, seconds > 0 ? words.retryIn(seconds) : words.retryNow].filter(Boolean).join(" "),
    tone: "wait",
  }),
  noLink: () => error(words.noLink),
  wrongLink: () => error(words.wrongLink),
  removed: () => error(words.removed),
  expired: () => error(words.expired),
  refused: (reason) => error([words.refused, sentence(words.hostSays(reason))]),
  passwordWanted: () => error(words.passwordWanted),
  full: (reason) => wait([words.full, sentence(words.hostSays(reason))]),
  roomLocked: () => wait(words.roomLocked),
  toBeLetIn: () => wait(words.toBeLetIn),
  turnedAway: () => error(words.turnedAway),
  /** Trying again by itself wouldn't help. */
  noH264: (isFirefox) => ({
    ...error([words.noH264, isFirefox ? words.noH264InFirefox : words.otherBrowser]), isFinal: true,
  }),
  hostAway: () => wait(navigator.onLine === false ? words.offline : words.hostAway),
  foreignPage: (origin) => error(words.foreignPage(origin)),
  hostLeft: () => ({ ...wait(words.hostLeft), tone: "end" }),
  lostConnection: () => wait(navigator.onLine === false ? words.offline : words.lostConnection),
  noPicture: () => wait(words.noPicture),
  undecodable: () => wait(words.undecodable),
  noAnswer: () => wait(words.noAnswer),
  unusableAnswer: (reason) => wait([words.unusableAnswer, words.hostSays(reason)]),
  /** ICE has failed although the WebSocket is connected. */
  noPath: ({ isFirefox, isLoopback, port }) =>
    wait(isFirefox && isLoopback ? words.firefoxLoopback : words.noPath(port, isLoopback)),
  playBlocked: () => ({ title: words.playBlocked, detail: "", tone: "play" }),
  /** While no picture has arrived yet. */
  sourceWaiting: () => wait(words.sourceWaiting),
  /** Over a picture that is no longer current, or instead of one. */
  sourceGone: (message, seconds) =>
    wait([
      seconds === null ? sentence(words.hostSays(message)) || words.sourceAbsent : words.sourceGone(seconds, words.hostSays(message)),
    ]),
  /** Over the last picture if no more arrive and the host gives no reason. */
  silent: (seconds) => wait(words.silent(seconds)),
  /** Instead of the picture while the sharer has paused. */
  sourcePaused: (message) => wait(words.sourcePaused(words.hostSays(message))),
  oldPicture: (reason) => words.oldPicture(reason.title),
};
