// The side of a phone on which a camera is.

// Chromium on Android names its cameras in English, and Safari's labels are in the user's language.
const BACK = /\b(back|rear|environment)\b|后置|後置|背面/i;
const FRONT = /\b(front|user)\b|前置/i;

/** Returns "user" for a front camera, "environment" for a back camera, or "" if that isn't known. */
export function facingOf(device) {
  const [side] = device?.getCapabilities?.().facingMode ?? [];
  if (side === "user" || side === "environment") return side;
  const label = device?.label ?? "";
  if (BACK.test(label)) return "environment";
  return FRONT.test(label) ? "user" : "";
}
