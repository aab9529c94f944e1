// Where a picture is placed in a window, in CSS pixels. Nothing here accesses the page.

// The limit of zooming in: this many screen pixels for one of the picture, or this many times the fitted size.
const LARGEST_PIXEL = 8;
const LARGEST_TIMES = 4;

/**
 * The size of a picture that has the size `video`: that of the source, `told`, where the host sends half of it to a slow
 * path, whose sides are even.
 */
export function sourceSize(video, told) {
  const isHalf = (half, whole) => whole >= 2 * half - 3 && whole <= 2 * half;
  const isHalved = told && isHalf(video.width, told.width) && isHalf(video.height, told.height);
  return isHalved ? { width: told.width, height: told.height } : video;
}

/** The scale at which the whole picture is visible. Both arguments are `{width, height}`. */
export const fitScale = (view, picture) => Math.min(view.width / picture.width, view.height / picture.height);

/** The scale at which the picture leaves no empty space in the window. */
export const fillScale = (view, picture) => Math.max(view.width / picture.width, view.height / picture.height);

/** Returns the nearest useful scale to `scale`. */
export function limitScale(scale, view, picture, pixelRatio) {
  const fit = fitScale(view, picture);
  const largest = Math.max(LARGEST_PIXEL / pixelRatio, LARGEST_TIMES * fit);
  // A picture that is smaller than the window at actual size may be shown at that size.
  return Math.min(largest, Math.max(Math.min(fit, 1 / pixelRatio), scale));
}

/**
 * Returns the placement nearest to `{scale, x, y}` (the picture's top left corner in the window) that leaves no empty
 * space on one side while the picture extends beyond the other. In a direction where the picture fits, it is centred.
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

/**
 * Returns the placement with `scale` that shows `centre`, a point of the picture from 0 to 1 each way, in the middle.
 */
export function centred(scale, centre, view, picture) {
  const x = view.width / 2 - centre.x * picture.width * scale;
  const y = view.height / 2 - centre.y * picture.height * scale;
  return settle({ scale, x, y }, view, picture);
}

/** Returns the point of the picture, from 0 to 1 each way, that a placement shows in the middle of the window. */
export function centreOf({ scale, x, y }, view, picture) {
  return {
    x: (view.width / 2 - x) / (picture.width * scale),
    y: (view.height / 2 - y) / (picture.height * scale),
  };
}

/**
 * Returns the placement with another scale that keeps what is at `point` of the window in place, as far as possible.
 */
export function zoomedAt(placement, scale, point, view, picture) {
  const times = scale / placement.scale;
  const x = point.x - (point.x - placement.x) * times;
  const y = point.y - (point.y - placement.y) * times;
  return settle({ scale, x, y }, view, picture);
}

/** Returns the placement moved by the given pixels of the window. */
export function panned({ scale, x, y }, right, down, view, picture) {
  return settle({ scale, x: x + right, y: y + down }, view, picture);
}
