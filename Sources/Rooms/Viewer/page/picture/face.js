// How the page presents the viewer's state.

import { messages, words } from "../words/messages.js";

/**
 * Puts the viewer's state on the stage and into the bar. `draw` is called at each change, and regularly to count
 * seconds.
 */
export class Face {
  #viewer;
  #stage;
  #bar;

  constructor(viewer, stage, bar) {
    this.#viewer = viewer;
    this.#stage = stage;
    this.#bar = bar;
  }

  draw() {
    const { slate = null, card = null, action = "", notice = "", status, phase } = this.#look();
    this.#stage.slate(slate);
    this.#stage.card(card, action);
    this.#stage.notice(notice);
    this.#bar.status(phase ?? this.#viewer.phase, status, this.#stage.hasPicture);
  }

  #look() {
    const { phase, reason, source, isPlayBlocked } = this.#viewer;
    // The password prompt replaces the card, if the prompt is open.
    if (phase === "locked") return { status: words.locked, phase: "failed", card: this.#hasPrompt ? null : reason };
    if (phase === "waiting") return { card: reason, status: words.waiting, phase: "connecting" };
    if (phase === "failed" || phase === "ended") {
      const status = phase === "ended" ? words.ended : words.stopped;
      return { card: reason, action: reason.canTryAgain ? words.tryAgain : "", status };
    }
    if (isPlayBlocked) {
      return { card: messages.playBlocked(), action: words.play, status: words.clickToPlay, phase: "playing" };
    }
    if (source.state === "paused") return { slate: messages.sourcePaused(source.message), status: words.paused };
    const trouble = this.#trouble();
    if (phase === "playing") {
      return trouble ? { notice: line(trouble), status: words.stale } : { status: words.live };
    }
    // While the page tries to get the picture back, the last one stays visible.
    const present = this.#words();
    const status = phase === "reconnecting" ? words.connectingAgain : trouble ? words.waiting : words.connecting;
    if (this.#stage.hasPicture && reason) return { notice: messages.oldPicture(present), status };
    return { card: trouble ?? present, status };
  }

  /** Why there are no new pictures, according to the host or to the page itself; null if nothing is wrong. */
  #trouble() {
    const { source, silence, isInterrupted } = this.#viewer;
    if (isInterrupted) return messages.lostConnection();
    if (source.state === "waiting") return messages.sourceWaiting();
    if (source.state === "gone") return messages.sourceGone(source.message, source.age);
    return silence === null ? null : messages.silent(silence);
  }

  #words() {
    const { reason, retryIn, phase } = this.#viewer;
    if (reason) return messages.retrying(reason, retryIn ?? 0);
    return phase === "negotiating" ? messages.negotiating() : messages.connecting();
  }

  get #hasPrompt() {
    return !document.getElementById("prompt").hidden;
  }
}

const line = ({ title, detail }) => [title, detail].filter(Boolean).join(" ");
