// The page's invite link in the panel of people, to copy and as a QR code.

import { element, setText } from "../element.js";
import { words } from "./invitewords.js";
import { qrCode } from "./qrcode.js";

const QUIET = 4;

const ownLink = () => location.origin + location.pathname + location.hash;

export class InviteLink {
  root = element("div", "inviting");
  #viewer;
  #link = element("input", "", { id: "invite-link", name: "link", readonly: "", autocomplete: "off" });
  #copy = element("button", "secondary", { id: "copy-link", type: "button" }, words.copyLink);
  #show = element("button", "secondary", { id: "show-code", type: "button", "aria-controls": "code" }, words.showCode);
  #reach = element("p", "note");
  #note = element("p", "note", { role: "status" });
  #code = element("div", "code", { id: "code" });
  /** The link, if it is the presenters'. It stays that when our turn to present has been ended. */
  #presentersLink = null;

  /** `turn`: our turn to present, as of `Turns`. */
  constructor(viewer, turn) {
    this.#viewer = viewer;
    if (turn === "owner") this.#presentersLink = ownLink();
    const label = element("label", "", { for: "invite-link" }, words.inviteLink);
    this.root.append(label, this.#link, this.#copy, this.#show, this.#reach, this.#note, this.#code);
    this.#copy.addEventListener("click", () => this.#copyLink());
    this.#show.addEventListener("click", () => this.#showCode(this.#code.hidden));
    viewer.addEventListener("_peers", ({ detail }) => {
      if (detail.turn === "owner") this.#presentersLink = ownLink();
      this.#draw();
    });
    this.#draw();
  }

  #draw() {
    // The page may have been given another link.
    const link = ownLink();
    const limits = [
      link === this.#presentersLink && words.linkPresents, this.#viewer.link.isLoopback && words.linkIsLocal,
    ];
    setText(this.#reach, limits.filter(Boolean).join(" "));
    if (this.#link.value === link) return;
    this.#link.value = link;
    setText(this.#note, "");
    this.#showCode(false);
  }

  async #copyLink() {
    this.#link.focus();
    this.#link.select();
    // Browsers give a clipboard only to pages over https, or of this machine.
    const isCopied = await (navigator.clipboard
      ? navigator.clipboard.writeText(this.#link.value).then(() => true, () => false)
      : document.execCommand("copy"));
    setText(this.#note, isCopied ? words.linkCopied : words.copyByHand);
    // The selected link keeps the focus for the user's own copying.
    if (isCopied) this.#copy.focus();
  }

  #showCode(isShown) {
    this.#code.hidden = !isShown;
    this.#show.setAttribute("aria-expanded", String(isShown));
    if (!isShown) return;
    const rows = qrCode(this.#link.value);
    this.#code.replaceChildren(...(rows ? [picture(rows)] : []));
    setText(this.#note, rows ? "" : words.noCode);
  }
}

/** The code as a picture, with the light edge that scanners need. */
function picture(rows) {
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const side = rows.length + 2 * QUIET;
  drawing.setAttribute("viewBox", `0 0 ${side} ${side}`);
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", words.codeOfLink);
  const modules = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const squares = rows.map((row, y) =>
    row.map((isDark, x) => (isDark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")).join(""));
  modules.setAttribute("d", squares.join(""));
  drawing.append(modules);
  return drawing;
}
