// Draws the dots with which people point, and their lines, over the pictures.

import { hueOf } from "./dots.js";
import { element, setText } from "../element.js";
import { PenView } from "./penview.js";
import { overlap, pictureIn } from "./pointplace.js";

// The style is set here, because this part of the page is loaded later.
const LAYER = { position: "absolute", pointerEvents: "none" };
const DOT = { position: "absolute", width: "0", height: "0", whiteSpace: "nowrap" };
const SPOT = {
  position: "absolute", left: "-9px", top: "-9px", width: "14px", height: "14px", border: "2px solid #fff",
  borderRadius: "50%", boxShadow: "0 0 6px 1px #000",
};
const NAME = {
  position: "absolute", top: "10px", maxWidth: "160px", padding: "1px 7px", borderRadius: "9px", overflow: "hidden",
  color: "#fff", fontSize: "12.5px", lineHeight: "18px", textOverflow: "ellipsis", unicodeBidi: "isolate",
};
// Beyond this part of the width, a name is to the left of its dot.
const TURNS_AT = 0.75;

/** Sets these properties of the style, unless they are set already. */
function write(target, style) {
  for (const [name, value] of Object.entries(style)) {
    if (target.style[name] !== value) target.style[name] = value;
  }
}

export class PointView {
  /** The layers by their videos: the element, the elements of its dots by their ids, and the view of its lines. */
  #layers = new Map();

  /**
   * Draws `dots` and `lines`, as `Dots` and `Lines` give them. `pictures` are `{video, clip, shows(track)}`, with the
   * element outside which the picture is hidden; each dot and line is in the first that shows its track.
   */
  draw(dots, lines, pictures) {
    const rest = new Set(this.#layers.keys());
    let [leftDots, leftLines] = [dots, lines];
    for (const { video, clip, shows } of pictures) {
      const isHere = ({ track }) => shows(track);
      const isElsewhere = ({ track }) => !shows(track);
      const [dotsHere, linesHere] = [leftDots.filter(isHere), leftLines.filter(isHere)];
      [leftDots, leftLines] = [leftDots.filter(isElsewhere), leftLines.filter(isElsewhere)];
      if (dotsHere.length + linesHere.length === 0) continue;
      rest.delete(video);
      const layer = this.#layer(video);
      const picture = pictureIn(
        video.getBoundingClientRect(), { width: video.videoWidth, height: video.videoHeight });
      layer.root.hidden = picture === null;
      if (picture) this.#place(layer, video, picture);
      this.#drawDots(layer, dotsHere);
      this.#drawLines(layer, picture ? linesHere : [], picture, clip.getBoundingClientRect());
    }
    for (const video of rest) {
      this.#layers.get(video).root.remove();
      this.#layers.delete(video);
    }
  }

  #layer(video) {
    let layer = this.#layers.get(video);
    if (!layer) {
      layer = { root: element("div", "laser-layer", { "aria-hidden": "true" }), dots: new Map(), lines: null };
      write(layer.root, LAYER);
      video.parentElement.append(layer.root);
      this.#layers.set(video, layer);
    }
    return layer;
  }

  #place(layer, video, picture) {
    const parent = video.parentElement.getBoundingClientRect();
    write(layer.root, {
      left: `${picture.left - parent.left}px`, top: `${picture.top - parent.top}px`,
      width: `${picture.width}px`, height: `${picture.height}px`,
    });
  }

  #drawLines(layer, lines, picture, clip) {
    // A picture that is zoomed in may be too large for a canvas.
    const part = lines.length > 0 ? overlap(picture, clip) : null;
    if (part === null) {
      layer.lines?.root.remove();
      layer.lines = null;
      return;
    }
    if (!layer.lines) {
      layer.lines = new PenView();
      layer.root.prepend(layer.lines.root);
    }
    write(layer.lines.root, {
      position: "absolute", left: `${part.left - picture.left}px`, top: `${part.top - picture.top}px`,
      width: `${part.width}px`, height: `${part.height}px`,
    });
    layer.lines.draw(lines, picture, part);
  }

  #drawDots(layer, dots) {
    const gone = new Set(layer.dots.keys());
    for (const dot of dots) {
      gone.delete(dot.id);
      let made = layer.dots.get(dot.id);
      if (!made) {
        made = new DotView();
        layer.dots.set(dot.id, made);
        layer.root.append(made.root);
      }
      made.draw(dot);
    }
    for (const id of gone) {
      layer.dots.get(id).root.remove();
      layer.dots.delete(id);
    }
  }
}

/** One dot and its name. */
class DotView {
  #spot = element("i");
  #name = element("span");
  root = element("div", "laser-dot", {}, this.#spot, this.#name);

  constructor() {
    write(this.root, DOT);
    write(this.#spot, SPOT);
    write(this.#name, NAME);
  }

  /** Our own dot, which has no id, is without a name. `isNameOnly`: whether there is only a name. */
  draw({ id, name, x, y, opacity, isNameOnly = false }) {
    setText(this.#name, name);
    this.#spot.hidden = isNameOnly;
    this.#name.hidden = id === "" || name === "";
    const hue = hueOf(name);
    write(this.root, { left: `${x * 100}%`, top: `${y * 100}%`, opacity: String(opacity) });
    write(this.#spot, { background: `hsl(${hue} 95% 50%)` });
    write(this.#name, {
      background: `hsl(${hue} 70% 25%)`, left: x > TURNS_AT ? "auto" : "8px", right: x > TURNS_AT ? "8px" : "auto",
    });
  }
}
