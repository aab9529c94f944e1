// The names of the tracks that this page shares: the same ones after a reload.

const MARK_KEY = "screenrelay.mark";

/** Returns the suffix of this page's track names: the suffix from before a reload, or a new one. */
export function takeMark() {
  try {
    const mark = sessionStorage.getItem(MARK_KEY);
    // A copy of this tab must have another one.
    sessionStorage.removeItem(MARK_KEY);
    if (/^[0-9a-f]{8}$/.test(mark)) return mark;
  } catch {
    // Blocked storage: each page has its own.
  }
  return [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Leaves `mark` to the next page in this tab. */
export function leaveMark(mark) {
  try {
    sessionStorage.setItem(MARK_KEY, mark);
  } catch {
    // The next page then shares under other names.
  }
}
