// The path that is sent of what the user draws. Nothing here accesses the page.

// In fractions of the picture: about a pixel.
const TOLERANCE = 0.0005;
/** The maximum number of steps that the host takes in a message. */
const MOST_STEPS = 16;

/**
 * A path of at most 16 steps that looks like `path`: places `[x, y]`, and null where another line begins. `before` is
 * the place that was sent last, from which the path goes on, or null.
 */
export function thinned(path, before) {
  let thin = path;
  for (let tolerance = TOLERANCE; tolerance < 1; tolerance *= 2) {
    thin = simplified(path, before, tolerance);
    if (thin.length <= MOST_STEPS) return thin;
  }
  // So many lines at once are no drawing.
  return thin.slice(-MOST_STEPS);
}

function simplified(path, before, tolerance) {
  const lines = [before ? [before] : []];
  for (const step of path) {
    if (step === null) lines.push([]);
    else lines.at(-1).push(step);
  }
  return lines.flatMap((line, index) => {
    const kept = straightened(line, tolerance).map(([x, y]) => [rounded(x), rounded(y)]);
    if (index > 0) return [null, ...kept];
    return before ? kept.slice(1) : kept;
  });
}

/** The points of a line without those that are nearer than `tolerance` to what is left (Ramer, Douglas and Peucker). */
function straightened(line, tolerance) {
  if (line.length < 3) return line;
  const [first, last] = [line[0], line.at(-1)];
  const distances = line.map((point) => distance(point, first, last));
  const farthest = Math.max(...distances);
  if (farthest <= tolerance) return [first, last];
  const middle = distances.indexOf(farthest);
  const start = straightened(line.slice(0, middle + 1), tolerance);
  return [...start.slice(0, -1), ...straightened(line.slice(middle), tolerance)];
}

/** How far a point is from the straight line between two others. */
function distance([x, y], [fromX, fromY], [toX, toY]) {
  const [alongX, alongY] = [toX - fromX, toY - fromY];
  const length = alongX ** 2 + alongY ** 2;
  const part = length === 0 ? 0 : ((x - fromX) * alongX + (y - fromY) * alongY) / length;
  const nearest = Math.max(0, Math.min(1, part));
  return Math.hypot(x - fromX - nearest * alongX, y - fromY - nearest * alongY);
}

/** The host passes on four decimals. */
const rounded = (value) => Math.round(value * 10000) / 10000;
