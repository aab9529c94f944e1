// Draws the lines of one picture.

import { hueOf } from "./dots.js";
import { element } from "../element.js";
import { partsOf } from "./penlines.js";

// In CSS pixels. Lines become thinner instead of transparent, so that their parts may overlap.
const WIDTH = 4;
const EDGE = 2;

/** A canvas, which the caller places. */
export class PenView {
  root = element("canvas", "laser-lines");

  /**
   * Draws `lines`, as `Lines` gives them. `picture` is the rectangle of the picture and `part` that of the canvas, both
   * in the window, in CSS pixels.
   */
  draw(lines, picture, part) {
    const ratio = window.devicePixelRatio || 1;
    const canvas = /** @type {any} */ (this.root);
    for (const side of ["width", "height"]) {
      const pixels = Math.max(1, Math.round(part[side] * ratio));
      if (canvas[side] !== pixels) canvas[side] = pixels;
    }
    const context = canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio, 0, 0, ratio, (picture.left - part.left) * ratio, (picture.top - part.top) * ratio);
    context.lineCap = "round";
    context.lineJoin = "round";
    // First the edges of all, so that none is over another line.
    for (const width of [WIDTH + EDGE, WIDTH]) {
      for (const { name, points } of lines) {
        context.strokeStyle = width === WIDTH ? `hsl(${hueOf(name)} 95% 50%)` : "#fff";
        for (const { strength, points: run } of partsOf(points)) {
          context.lineWidth = width * strength;
          context.beginPath();
          context.moveTo(run[0].x * picture.width, run[0].y * picture.height);
          // A single point is drawn as well if it has a length.
          for (const { x, y } of run.length > 1 ? run.slice(1) : run) {
            context.lineTo(x * picture.width + 0.01, y * picture.height);
          }
          context.stroke();
        }
      }
    }
  }
}
