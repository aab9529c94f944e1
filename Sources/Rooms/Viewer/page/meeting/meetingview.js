// The view of the meeting: the button that opens it, our own picture with its buttons, and the others with their names.

import { addToBar, element, iconButton, onEscape, onOtherOpened, opened, relabel, setText } from "../element.js";
import { words as roomWords } from "./meetingwords.js";
import { words } from "./meetwords.js";
import { playOnChosen } from "../choice/output.js";

const CAMERA = "M4 7.5h9.5a1.5 1.5 0 0 1 1.5 1.5v6a1.5 1.5 0 0 1-1.5 1.5H4A1.5 1.5 0 0 1 2.5 15V9A1.5 1.5 0 0 1 4 7.5zM15 11l6.5-3v8L15 13";
const MICROPHONE = "M12 3.5a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0v-5a3 3 0 0 1 3-3zM5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3";
const LEAVE = "M14.5 4H6a1.5 1.5 0 0 0-1.5 1.5v13A1.5 1.5 0 0 0 6 20h8.5M10 12h10.5M17 8.5l3.5 3.5-3.5 3.5";

/** Handlers: onJoin(kinds), onLeave(), onTurn(kind, on). */
export class MeetingView {
  #root = document.getElementById("meeting");
  #button;
  #panel;
  #joinBoth;
  #joinSpeaking;
  #problem = element("p", "problem", { role: "status" });
  #tiles = element("ul", "tiles");
  #own;
  #others = new Map();
  #isOpen = false;
  #state = "off";

  constructor(handlers) {
    this.#joinBoth = element("button", "primary", { type: "button" }, words.withCamera);
    this.#joinSpeaking = element("button", "secondary", { type: "button" }, words.withMicrophone);
    this.#joinBoth.addEventListener("click", () => handlers.onJoin(["audio", "video"]));
    this.#joinSpeaking.addEventListener("click", () => handlers.onJoin(["audio"]));
    const choices = element("div", "choices", {}, this.#joinBoth, this.#joinSpeaking);
    const about = { id: "invitation", "aria-label": roomWords.meet, tabindex: "-1" };
    this.#panel = element("section", "panel invitation", about,
      element("h2", "", {}, roomWords.meet), element("p", "", {}, words.meetOffer), choices);
    this.#panel.hidden = true;
    document.getElementById("people").after(this.#panel);
    this.#own = new OwnTile(handlers);
    this.#tiles.append(this.#own.root);
    relabel(this.#root, roomWords.meet);
    this.#root.append(this.#tiles);
    this.#button = iconButton(CAMERA, roomWords.meet, () => this.toggle());
    this.#button.id = "meet";
    this.#button.hidden = true;
    addToBar(this.#button);
    onEscape(this.#panel, () => this.toggle());
    onOtherOpened(this.#panel, () => this.#open(false));
  }

  /** Sets whether there is a room to meet in. */
  available(isAvailable) {
    this.#button.hidden = !isAvailable;
    if (!isAvailable) this.#open(false);
  }

  /** `now`: {state, lack, problem, own: {audio, video}, others: [{id, name, peer}]}. */
  draw({ state, lack, problem, own, others }) {
    // A user who has joined sees the others. A user who has left isn't invited again at once.
    if (this.#isIn(state) !== this.#isIn(this.#state)) this.#isOpen = this.#isIn(state) || problem !== "";
    this.#state = state;
    const isAlone = state === "on" && others.length === 0;
    const text = words.problems[problem || lack] ?? (isAlone ? words.alone : "");
    // The text is shown under the buttons that caused it, or with the pictures.
    const place = this.#isIn(state) ? this.#root : this.#panel;
    if (this.#problem.parentNode !== place) place.append(this.#problem);
    setText(this.#problem, text);
    this.#problem.hidden = text === "";
    setText(this.#joinBoth, state === "opening" ? words.opening : words.withCamera);
    for (const choice of [this.#joinBoth, this.#joinSpeaking]) {
      choice.disabled = state === "opening" || lack !== null;
      choice.title = words.cannotMeet[lack] ?? "";
    }
    relabel(this.#button, words.cannotMeet[lack] ?? roomWords.meet);
    this.#button.toggleAttribute("data-lacking", lack !== null);
    this.#own.draw(own);
    this.#drawOthers(others);
    this.#showOpen();
  }

  #isIn(state) {
    return state === "joining" || state === "on";
  }

  /** Shows or hides the pictures, or the invitation to the meeting. Returns false if there is no room to meet in. */
  toggle() {
    if (this.#button.hidden) return false;
    this.#open(!this.#isOpen);
    if (!this.#isOpen) this.#button.focus();
    else if (!this.#panel.hidden) (this.#joinBoth.disabled ? this.#panel : this.#joinBoth).focus();
    return true;
  }

  #open(isOpen) {
    this.#isOpen = isOpen;
    this.#showOpen();
    if (!this.#panel.hidden) opened(this.#panel);
  }

  /** The others can be heard whether their pictures are visible or not. */
  #showOpen() {
    const isIn = this.#isIn(this.#state);
    this.#panel.hidden = isIn || !this.#isOpen;
    this.#root.hidden = !isIn || !this.#isOpen;
    this.#button.setAttribute("aria-expanded", String(this.#isOpen));
    this.#button.setAttribute("aria-controls", isIn ? "meeting" : "invitation");
    this.#button.toggleAttribute("data-on", isIn);
  }

  #drawOthers(others) {
    const present = new Set(others.map(({ id }) => id));
    for (const [id, tile] of this.#others) {
      if (present.has(id)) continue;
      tile.end();
      this.#others.delete(id);
    }
    for (const { id, name, peer } of others) {
      let tile = this.#others.get(id);
      if (!tile || tile.peer !== peer) {
        tile?.end();
        tile = new Tile(id, peer);
        this.#others.set(id, tile);
        this.#tiles.append(tile.root);
      }
      tile.draw(name);
    }
  }
}

/** Our own picture, mirrored, and the buttons. */
class OwnTile {
  root;
  #video = element("video", "mirrored", { playsinline: "", muted: "" });
  #name = element("span", "name");
  #microphone;
  #camera;
  #leave;
  #own = { audio: null, video: null };

  constructor({ onTurn, onLeave }) {
    this.#microphone = iconButton(MICROPHONE, "", () => onTurn("audio", !this.#own.audio));
    this.#camera = iconButton(CAMERA, "", () => onTurn("video", !this.#own.video));
    this.#leave = iconButton(LEAVE, "", onLeave);
    const buttons = element("div", "controls", {}, this.#microphone, this.#camera, this.#leave);
    this.root = element("li", "tile own", {}, this.#video, this.#name, buttons);
    this.#video.muted = true;
  }

  draw(own) {
    this.#own = own;
    if (this.#video.srcObject?.getTracks()[0] !== own.video) {
      this.#video.srcObject = own.video ? new MediaStream([own.video]) : null;
      if (own.video) this.#video.play()?.catch(() => {});
    }
    this.#video.hidden = !own.video;
    setText(this.#name, words.ownPicture);
    relabel(this.#video, words.ownPicture);
    relabel(this.#microphone, own.audio ? words.mute : words.unmute);
    relabel(this.#camera, own.video ? words.cameraOff : words.cameraOn);
    this.#microphone.classList.toggle("off", !own.audio);
    this.#camera.classList.toggle("off", !own.video);
    relabel(this.#leave, words.leave);
  }
}

/** Another member: picture, sound, name, and the state of the connection. */
class Tile {
  peer;
  root;
  #video = element("video", "", { playsinline: "", autoplay: "" });
  #name = element("span", "name");
  #state = element("span", "state");
  #resume = null;
  #id;

  constructor(id, peer) {
    this.#id = id;
    this.peer = peer;
    this.root = element("li", "tile", {}, this.#video, this.#name, this.#state);
    this.#video.srcObject = peer.stream;
    playOnChosen(this.#video);
    this.#play();
  }

  draw(name) {
    const shown = name || roomWords.guest(this.#id);
    const isConnected = this.peer.state === "connected";
    setText(this.#name, shown);
    relabel(this.#video, words.pictureOf(shown));
    const silent = isConnected && !this.peer.gives("audio") ? words.muted : "";
    setText(this.#state, isConnected ? silent : words[this.peer.state] ?? "");
    this.root.dataset.state = this.peer.state;
    this.root.classList.toggle("faceless", !this.peer.gives("video"));
    if (this.#video.paused) this.#play();
  }

  end() {
    document.removeEventListener("pointerdown", this.#resume);
    this.#video.srcObject = null;
    this.root.remove();
  }

  #play() {
    this.#video.play()?.catch((problem) => {
      if (problem.name !== "NotAllowedError" || this.#resume) return;
      // The browser requires a click first, anywhere on the page.
      this.#resume = () => this.#video.play()?.catch(() => {});
      document.addEventListener("pointerdown", this.#resume, { once: true });
    });
  }
}
