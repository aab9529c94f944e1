// Where a picture lies in a window, in CSS pixels; nothing here touches the page.

// How far one may zoom in: so many pixels of the window for one of the picture, or so many times the fitted size.
const LARGEST_PIXEL = 8;
const LARGEST_TIMES = 4;

/** Both as `{width, height}`: the scale at which all of the picture is seen. */
export const fitScale = (view, picture) => Math.min(view.width / picture.width, view.height / picture.height);

/** The scale at which the picture leaves nothing of the window empty. */
export const fillScale = (view, picture) => Math.max(view.width / picture.width, view.height / picture.height);

/** The scale nearest to `scale` that is of use. */
export function limitScale(scale, view, picture, pixelRatio) {
  const fit = fitScale(view, picture);
  const largest = Math.max(LARGEST_PIXEL / pixelRatio, LARGEST_TIMES * fit);
  // What is smaller than the window at its own size may be shown so.
  return Math.min(largest, Math.max(Math.min(fit, 1 / pixelRatio), scale));
}

/**
 * The placement nearest to `{scale, x, y}` (the picture's left top corner in the window) without empty space at one side while
 * the picture goes on at the other; what is smaller than the window lies in its middle.
 */
export function settle({ scale, x, y }, view, picture) {
  const along = (corner, room, length) =>
    length <= room ? (room - length) / 2 : Math.min(0, Math.max(room - length, corner));
  return {
    scale,
    x: along(x, view.width, picture.width * scale),
    y: along(y, view.height, picture.height * scale),
  };
}

/** The placement with `scale` whose middle shows what `centre`, a point of the picture from 0 to 1 each way, is. */
export function centred(scale, centre, view, picture) {
  const x = view.width / 2 - centre.x * picture.width * scale;
  const y = view.height / 2 - centre.y * picture.height * scale;
  return settle({ scale, x, y }, view, picture);
}

/** The point of the picture, from 0 to 1 each way, that a placement shows in the middle of the window. */
export function centreOf({ scale, x, y }, view, picture) {
  return {
    x: (view.width / 2 - x) / (picture.width * scale),
    y: (view.height / 2 - y) / (picture.height * scale),
  };
}

/** The placement with another scale at which what lies under `point` of the window stays there, as far as that can be. */
export function zoomedAt(placement, scale, point, view, picture) {
  const times = scale / placement.scale;
  const x = point.x - (point.x - placement.x) * times;
  const y = point.y - (point.y - placement.y) * times;
  return settle({ scale, x, y }, view, picture);
}

/** The placement moved by so many pixels of the window. */
export function panned({ scale, x, y }, right, down, view, picture) {
  return settle({ scale, x: x + right, y: y + down }, view, picture);
}
