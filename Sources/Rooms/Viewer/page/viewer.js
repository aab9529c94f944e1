// The page: joins the room of its link, shows the screen, and comes back by itself from whatever goes wrong.

import { readBrowser, readLink } from "./link.js";
import { messages } from "./messages.js";
import { Peer } from "./peer.js";
import { Pointer } from "./pointer.js";
import { Signalling } from "./signalling.js";
import { Stage } from "./stage.js";

const LOOK_EVERY = 500;
const ANSWER_PATIENCE = 10_000;
const PATH_PATIENCE = 15_000;
const PICTURE_PATIENCE = 10_000;
// A host that is started again is back within seconds, and finds its viewers waiting: so many short waits come first.
const SHORT_WAIT = 500;
const SHORT_WAITS = 12;
const LONGEST_WAIT = 10_000;

const browser = readBrowser();
const stage = new Stage();
const pointer = new Pointer(document.getElementById("video"), document.getElementById("pointer"));

class Viewer {
  link = readLink(location);
  /** "connecting", "negotiating", "playing", "reconnecting" or "failed". */
  phase = "connecting";
  error = null;
  reconnects = 0;

  #signalling = null;
  #peer = null;
  #source = { source: "live", since: null, message: "" };
  #staleFrom = null;
  #attempts = 0;
  #retryAt = null;
  #retryTimer = null;
  #patience = null;
  #reason = null;
  #playBlocked = false;

  #decodedBefore = 0;
  #counted = null;
  #figures = "";
  #undecoded = null;

  /** Frames that this page has decoded, over all its connections. */
  get framesDecoded() {
    return this.#decodedBefore + (this.#counted?.framesDecoded ?? 0);
  }

  start() {
    this.link = readLink(location);
    document.title = this.link.name ? `${this.link.name} – ScreenRelay` : "ScreenRelay";
    this.#attempts = 0;
    this.#reason = null;
    if (!browser.hasWebRTC) this.#stop(messages.noWebRTC());
    else if (!browser.hasH264) this.#stop(messages.noH264(browser.isFirefox), "Try again");
    else if (!this.link.name) this.#stop(messages.noLink());
    else this.#connect();
  }

  /** What the host says of the source: "live", "paused", "waiting" or "gone". */
  get source() {
    return this.#source.source;
  }

  /** Goes on at once where the page is waiting to. */
  hurry() {
    if (this.#retryTimer !== null) this.#connect();
  }

  /** The button on the card. */
  act() {
    if (this.#playBlocked) {
      this.#playBlocked = false;
      stage.play();
      this.#draw();
    } else {
      this.start();
    }
  }

  playBlocked() {
    this.#playBlocked = true;
    this.#draw();
  }

  firstPicture() {
    // A stream whose connection was closed may end with a black picture.
    if (!this.#peer?.isConnected) return;
    this.#playBlocked = false;
    this.#attempts = 0;
    this.#reason = null;
    clearTimeout(this.#patience);
    stage.reveal();
    this.#enter("playing");
  }

  #connect() {
    this.#disconnect();
    this.#enter(this.#reason ? "reconnecting" : "connecting");
    // Events of a connection that was given up must not touch the next one.
    const only = (action) => (...values) => {
      if (this.#signalling === signalling) action(...values);
    };
    const signalling = new Signalling(this.link.socket, this.link.room, {
      onJoined: only(() => this.#negotiate()),
      onAnswer: only((description) => this.#answered(description)),
      onCandidate: only((candidate) => this.#peer?.addCandidate(candidate)),
      onState: only((data) => this.#sourceChanged(data)),
      onPointerShape: only((data) => pointer.shape(data)),
      onPointer: only((data) => pointer.place(data)),
      onPointerMode: only((data) => pointer.mode(data)),
      onRefused: only((reason) => this.#stop(messages.refused(reason), "Try again")),
      onSessionEnded: only(() => this.#retry(messages.lostConnection())),
      onFull: only((reason) => this.#retry(messages.full(reason))),
      onHostLeft: only(() => this.#retry(messages.hostLeft())),
      onWrongLink: only(() => this.#stop(messages.wrongLink())),
      onClosed: only(() => this.#retry(this.#peer ? messages.lostConnection() : messages.hostAway())),
    });
    this.#signalling = signalling;
    this.#expect(ANSWER_PATIENCE, () => this.#retry(messages.hostAway()));
  }

  #negotiate() {
    this.#peer?.close();
    if (this.phase === "connecting") this.#enter("negotiating");
    const only = (action) => (...values) => {
      if (this.#peer === peer) action(...values);
    };
    const peer = new Peer({
      onOffer: only((description) => this.#signalling.offer(description)),
      onCandidate: only((candidate) => this.#signalling.candidate(candidate)),
      onStream: only((stream) => {
        pointer.watch(stream);
        stage.show(stream);
      }),
      onConnected: only(() => this.#awaitPicture()),
      onNoPath: only(() => this.#retry(this.#noPath(peer))),
      onLost: only(() => this.#retry(messages.lostConnection())),
      onUnusableAnswer: only((reason) => this.#retry(messages.unusableAnswer(reason))),
    });
    this.#peer = peer;
    this.#expect(ANSWER_PATIENCE, () => this.#retry(messages.noAnswer()));
    peer.open().catch((problem) => {
      if (this.#peer === peer) this.#retry(messages.unusableAnswer(problem.message));
    });
  }

  #answered(description) {
    const peer = this.#peer;
    if (!peer) return;
    this.#expect(PATH_PATIENCE, () => this.#retry(this.#noPath(peer)));
    peer.accept(description);
  }

  #noPath(peer) {
    return messages.noPath({
      isFirefox: browser.isFirefox,
      isLoopback: this.link.isLoopback,
      port: peer.hostPort,
    });
  }

  /** A source that lives has a picture for who joins; one that does not may have none. */
  #awaitPicture() {
    if (this.phase === "playing") return;
    this.#expect(PICTURE_PATIENCE, () => {
      if (this.#source.source === "live" && !this.#playBlocked) this.#retry(messages.noPicture());
    });
  }

  #sourceChanged(data) {
    const since = Number.isFinite(data.since) ? Math.max(0, data.since) : null;
    this.#source = { source: data.source ?? "live", since, message: data.message ?? "" };
    this.#staleFrom = since === null ? null : performance.now() - since * 1000;
    if (this.#source.source === "live" && this.#peer?.isConnected) this.#awaitPicture();
    this.#draw();
  }

  /** Tries again: at once, for some seconds often, and then after a while that grows with each attempt that showed nothing. */
  #retry(reason) {
    const long = Math.max(0, this.#attempts - SHORT_WAITS);
    const wait = this.#attempts === 0 ? 0 : Math.min(LONGEST_WAIT, SHORT_WAIT * 2 ** long);
    const spread = wait * (0.85 + 0.3 * Math.random());
    this.#attempts += 1;
    this.reconnects += 1;
    this.#disconnect();
    this.#reason = reason;
    this.#retryAt = performance.now() + spread;
    this.#retryTimer = setTimeout(() => this.#connect(), Math.max(spread, 100));
    this.#enter("reconnecting");
  }

  /** Gives up until somebody does something about it. */
  #stop(message, action = "") {
    this.#disconnect();
    this.#reason = { ...message, action };
    this.#enter("failed");
  }

  #disconnect() {
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#patience);
    this.#retryTimer = this.#retryAt = null;
    this.#decodedBefore = this.framesDecoded;
    this.#counted = this.#undecoded = null;
    this.#figures = "";
    stage.hold();
    this.#peer?.close();
    this.#signalling?.close();
    pointer.reset();
    this.#peer = this.#signalling = null;
    this.#source = { source: "live", since: null, message: "" };
    this.#staleFrom = null;
  }

  /** What to do where the next step has not come by then; one step is waited for at a time. */
  #expect(delay, otherwise) {
    clearTimeout(this.#patience);
    this.#patience = setTimeout(otherwise, delay);
  }

  #enter(phase) {
    this.phase = phase;
    this.error = phase === "playing" ? null : this.#reason?.title ?? null;
    this.#draw();
  }

  /** Reads the browser's counters: for the bar, and to notice a decoder that is stuck. */
  async look() {
    const peer = this.#peer;
    if (peer && !pointer.isExact) pointer.presented(peer.playedTimestamp);
    const now = await peer?.statistics();
    if (peer && peer === this.#peer && now) {
      const before = this.#counted;
      this.#counted = now;
      const seconds = before ? (now.time - before.time) / 1000 : 0;
      if (seconds > 0) {
        this.#figures = figures(
          stage.pictureSize, (now.framesDecoded - before.framesDecoded) / seconds,
          ((now.bytes - before.bytes) * 8) / seconds);
      }
      // In a hidden tab no picture is ever drawn, but they are decoded.
      if (this.phase !== "playing" && now.framesDecoded > 0 && stage.pictureSize.width > 0) this.firstPicture();
      const last = this.#undecoded;
      if (!last || last.framesDecoded !== now.framesDecoded) this.#undecoded = now;
      else if (now.time - last.time > PICTURE_PATIENCE && now.packets - last.packets > 50) {
        this.#retry(messages.undecodable());
      }
    }
    this.#draw();
  }

  #draw() {
    pointer.live(this.#source.source === "live");
    if (this.phase === "failed") {
      stage.slate(null);
      stage.card(this.#reason, this.#reason.action);
      stage.notice("");
      stage.status("failed", "Stopped", "");
      return;
    }
    if (this.#playBlocked) {
      stage.slate(null);
      stage.card(messages.playBlocked(), "Play");
      stage.notice("");
      stage.status("playing", "Click to play", "");
      return;
    }
    const paused = this.#source.source === "paused" && this.#signalling ? messages.sourcePaused(this.#source.message) : null;
    stage.slate(paused);
    if (paused) {
      stage.card(null);
      stage.notice("");
      stage.status(this.phase, "Paused", "");
      return;
    }
    const trouble = this.#trouble();
    if (this.phase === "playing") {
      stage.card(null);
      stage.notice(trouble);
      stage.status("playing", trouble ? "Not up to date" : "Live", this.#figures);
      return;
    }
    // While the page is getting the picture back, the last one stays in sight.
    const words = this.#words();
    const old = stage.hasPicture && this.#reason;
    stage.card(old ? null : trouble ? { title: trouble, detail: "", tone: "wait" } : words);
    stage.notice(old ? messages.oldPicture(words) : "");
    stage.status(this.phase, this.phase === "reconnecting" ? "Connecting again" : "Connecting", "");
  }

  /** What keeps the picture from being new, as the host says. */
  #trouble() {
    const { source, message } = this.#source;
    if (source === "waiting") return messages.sourceWaiting();
    if (source !== "gone") return "";
    const seconds = this.#staleFrom === null ? null : Math.floor((performance.now() - this.#staleFrom) / 1000);
    return messages.sourceGone(message, seconds);
  }

  #words() {
    if (this.#reason) {
      const left = this.#retryAt === null ? 0 : Math.max(0, Math.ceil((this.#retryAt - performance.now()) / 1000));
      return messages.retrying(this.#reason, left);
    }
    return this.phase === "negotiating" ? messages.negotiating() : messages.connecting();
  }
}

/** "1920 × 1080 · 30 fps · 1.2 Mbit/s" */
function figures({ width, height }, framesPerSecond, bitsPerSecond) {
  const parts = [];
  if (width > 0) parts.push(`${width} × ${height}`);
  parts.push(`${Math.max(0, Math.round(framesPerSecond))} fps`);
  const rate = Math.max(0, bitsPerSecond);
  parts.push(rate < 1e6 ? `${Math.round(rate / 1000)} kbit/s` : `${(rate / 1e6).toFixed(1)} Mbit/s`);
  return parts.join(" · ");
}

const viewer = new Viewer();
stage.onAction = () => viewer.act();
stage.onFirstPicture = () => viewer.firstPicture();
stage.onPlayBlocked = () => viewer.playBlocked();
window.addEventListener("hashchange", () => viewer.start());
window.addEventListener("online", () => viewer.hurry());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) viewer.hurry();
});

// What the page is doing, for those who look in from outside: to be read, not to be changed.
window.screenRelay = Object.freeze({
  get phase() {
    return viewer.phase;
  },
  get error() {
    return viewer.error;
  },
  get framesDecoded() {
    return viewer.framesDecoded;
  },
  get videoWidth() {
    return stage.pictureSize.width;
  },
  get videoHeight() {
    return stage.pictureSize.height;
  },
  get reconnects() {
    return viewer.reconnects;
  },
  get source() {
    return viewer.source;
  },
  get pointer() {
    return pointer.state;
  },
});

viewer.start();
(async () => {
  for (;;) {
    await viewer.look().catch(() => {});
    await new Promise((resume) => setTimeout(resume, LOOK_EVERY));
  }
})();
