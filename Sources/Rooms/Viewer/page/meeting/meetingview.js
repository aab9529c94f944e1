// The view of the meeting: the button that opens it, our own picture with its buttons, and the others with their names.

import { addToBar, element, iconButton, onEscape, onOtherOpened, opened, relabel, setText } from "../element.js";
import { words as roomWords } from "./meetingwords.js";
import { words } from "./meetwords.js";
import { playOnChosen } from "../choice/output.js";

const CAMERA = "M4 7.5h9.5a1.5 1.5 0 0 1 1.5 1.5v6a1.5 1.5 0 0 1-1.5 1.5H4A1.5 1.5 0 0 1 2.5 15V9A1.5 1.5 0 0 1 4 7.5zM15 11l6.5-3v8L15 13";
const MICROPHONE = "M12 3.5a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0v-5a3 3 0 0 1 3-3zM5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3";
const CHANGE = "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4";
const LEAVE = "M14.5 4H6a1.5 1.5 0 0 0-1.5 1.5v13A1.5 1.5 0 0 0 6 20h8.5M10 12h10.5M17 8.5l3.5 3.5-3.5 3.5";

/**
 * Handlers: onJoin(kinds), onLeave(), onTurn(kind, on), onChange() when the user has opened the panel of the devices,
 * and onFold() when a panel has closed.
 */
export class MeetingView {
  #root = document.getElementById("meeting");
  #button;
  #panel;
  #offer;
  /** Where the choice of devices has its panel. */
  place = element("div");
  #onFold;
  #joinBoth;
  #joinSpeaking;
  #problem = element("p", "problem", { role: "status" });
  #tiles = element("ul", "tiles");
  #own;
  #others = new Map();
  #isOpen = false;
  /** Whether the panel of the devices is open during the meeting. */
  #isChanging = false;
  #state = "off";

  constructor(handlers) {
    this.#onFold = handlers.onFold;
    this.#joinBoth = element("button", "primary", { type: "button" }, words.withCamera);
    this.#joinSpeaking = element("button", "secondary", { type: "button" }, words.withMicrophone);
    this.#joinBoth.addEventListener("click", () => handlers.onJoin(["audio", "video"]));
    this.#joinSpeaking.addEventListener("click", () => handlers.onJoin(["audio"]));
    const choices = element("div", "choices", {}, this.#joinBoth, this.#joinSpeaking);
    const about = { id: "invitation", "aria-label": roomWords.meet, tabindex: "-1" };
    this.#offer = element("div", "", {}, element("p", "", {}, words.meetOffer), choices);
    this.#panel = element("section", "panel invitation", about,
      element("h2", "", {}, roomWords.meet), this.#offer, this.place);
    this.#panel.hidden = true;
    document.getElementById("people").after(this.#panel);
    this.#own = new OwnTile({
      ...handlers,
      onChange: () => {
        this.showDevices(true);
        handlers.onChange();
      },
    });
    this.#tiles.append(this.#own.root);
    relabel(this.#root, words.meeting);
    this.#root.append(this.#tiles);
    this.#button = iconButton(CAMERA, roomWords.meet, () => this.toggle());
    this.#button.id = "meet";
    this.#button.hidden = true;
    addToBar(this.#button);
    onEscape(this.#panel, () => (this.#isIn(this.#state) ? this.#leaveDevices() : this.toggle()));
    onOtherOpened(this.#panel, () => (this.#isIn(this.#state) ? this.#foldDevices() : this.#open(false)));
    // A speaker that is gone makes way for the default one, until it is back.
    navigator.mediaDevices?.addEventListener?.("devicechange", () => {
      for (const tile of this.#others.values()) tile.chooseSpeaker();
    });
  }

  /** Sets whether there is a room to meet in. */
  available(isAvailable) {
    this.#button.hidden = !isAvailable;
    if (!isAvailable) this.#open(false);
  }

  /** `now`: {state, lack, problem, note, own: {audio, video}, others: [{id, name, peer}]}. */
  draw({ state, lack, problem, note, own, others }) {
    const losesFocus = this.place.contains(document.activeElement) && state !== this.#state;
    // A user who has joined sees the others. A user who has left isn't invited again at once.
    if (this.#isIn(state) !== this.#isIn(this.#state)) {
      this.#isOpen = this.#isIn(state) || problem !== "";
      this.#isChanging = false;
    }
    this.#state = state;
    const isAlone = state === "on" && others.length === 0;
    // The open panel of the devices has the note itself.
    const said = this.#isIn(state) && !this.#isChanging ? note : "";
    const text = words.problems[problem || lack] ?? (said || (isAlone ? words.alone : ""));
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
    if (!losesFocus) return;
    if (this.#isIn(state)) this.#own.focus();
    else if (state === "off") this.#joinBoth.focus();
  }

  /** Shows or hides the panel of the devices during the meeting. */
  showDevices(isOpen) {
    this.#isChanging = isOpen;
    this.#showOpen();
    if (isOpen) opened(this.#panel);
    else this.#own.focus();
  }

  #leaveDevices() {
    this.#foldDevices();
    this.#own.focus();
  }

  #foldDevices() {
    this.#isChanging = false;
    this.#onFold();
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
    if (isOpen) this.#showOpen();
    else this.#foldDevices();
    if (!this.#panel.hidden) opened(this.#panel);
  }

  /** The others can be heard whether their pictures are visible or not. */
  #showOpen() {
    const isIn = this.#isIn(this.#state);
    this.#panel.hidden = isIn ? !this.#isChanging : !this.#isOpen;
    this.#offer.hidden = isIn || this.#state === "choosing";
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
  #change;
  #own = { audio: null, video: null };

  constructor({ onTurn, onLeave, onChange }) {
    this.#microphone = iconButton(MICROPHONE, "", () => onTurn("audio", !this.#own.audio));
    this.#camera = iconButton(CAMERA, "", () => onTurn("video", !this.#own.video));
    this.#leave = iconButton(LEAVE, "", onLeave);
    this.#change = iconButton(CHANGE, "", onChange);
    this.#change.className = "change";
    this.#change.setAttribute("aria-controls", "invitation");
    const buttons = element("div", "controls", {}, this.#microphone, this.#camera, this.#leave, this.#change);
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
    relabel(this.#change, words.change);
  }

  /** Moves the focus to the button that opens the panel of the devices. */
  focus() {
    this.#change.focus();
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
    this.chooseSpeaker();
    this.#play();
  }

  /** Plays on the chosen speaker if it is there. */
  chooseSpeaker() {
    playOnChosen(this.#video);
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
