// Formats numbers with their units.

export const sizeText = ({ width, height }) => `${width} × ${height}`;

/** Formats milliseconds, more coarsely if there are many. */
export function delayText(milliseconds) {
  if (milliseconds === null) return "";
  return `${milliseconds < 100 ? Math.round(milliseconds) : Math.round(milliseconds / 10) * 10} ms`;
}

/** Formats milliseconds with their sign. */
export function lagText(milliseconds) {
  if (milliseconds === null) return "";
  const size = delayText(Math.abs(milliseconds));
  return Math.abs(milliseconds) < 0.5 ? size : `${milliseconds < 0 ? "−" : "+"}${size}`;
}

export const frameRateText = (rate) => (rate === null ? "" : `${Math.round(rate)} fps`);

export function bitRateText(rate) {
  if (rate === null) return "";
  return rate < 999_500 ? `${Math.round(rate / 1000)} kbit/s` : `${(rate / 1e6).toFixed(1)} Mbit/s`;
}

export const lossText = (percent) => (percent === null ? "" : `${percent.toFixed(percent < 10 ? 1 : 0)} %`);
