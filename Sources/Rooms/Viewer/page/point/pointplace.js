// Where pictures are in the window, and which place of a picture a point of the window is. Nothing here accesses the
// page.

/**
 * The rectangle that a picture of the size `picture` fills in `box`, an element's rectangle with `object-fit: contain`;
 * null without a picture.
 */
export function pictureIn(box, picture) {
  if (![box.width, box.height, picture.width, picture.height].every((side) => side > 0)) return null;
  const scale = Math.min(box.width / picture.width, box.height / picture.height);
  const width = picture.width * scale;
  const height = picture.height * scale;
  return { left: box.left + (box.width - width) / 2, top: box.top + (box.height - height) / 2, width, height };
}

/** The rectangle that two rectangles have in common; null if there is none. */
export function overlap(one, other) {
  const [left, top] = [Math.max(one.left, other.left), Math.max(one.top, other.top)];
  const width = Math.min(one.left + one.width, other.left + other.width) - left;
  const height = Math.min(one.top + one.height, other.top + other.height) - top;
  return width > 0 && height > 0 ? { left, top, width, height } : null;
}

/** The place of a point in a rectangle, in fractions of its width and height; null if it is outside. */
export function placeIn(rectangle, point) {
  const x = (point.x - rectangle.left) / rectangle.width;
  const y = (point.y - rectangle.top) / rectangle.height;
  return x >= 0 && x <= 1 && y >= 0 && y <= 1 ? { x, y } : null;
}

/**
 * The track and the place at a point of the window: `{track, x, y}`, or null beside all pictures. `pictures` are
 * `{track, box, size, clip}`: the picture's element, its size, and the rectangle outside which it is hidden.
 */
export function placeAt(pictures, point) {
  for (const { track, box, size, clip } of pictures) {
    const rectangle = pictureIn(box, size);
    const part = rectangle && overlap(rectangle, clip);
    const place = part && placeIn(part, point) ? placeIn(rectangle, point) : null;
    if (place) return { track, ...place };
  }
  return null;
}
