// The devices that the user has chosen, which the browser keeps: their ids, and the side that the camera faces.

const MEMORY_KEY = "screenrelay.devices";
const NAMES = ["camera", "microphone", "speaker", "facing"];

/** Returns {camera, microphone, speaker, facing}, without what wasn't chosen. `facing` is "user" or "environment". */
export function recallDevices() {
  try {
    const kept = JSON.parse(localStorage.getItem(MEMORY_KEY)) ?? {};
    const chosen = NAMES.filter((name) => typeof kept[name] === "string" && kept[name] !== "");
    return Object.fromEntries(chosen.map((name) => [name, kept[name]]));
  } catch {
    return {};
  }
}

/** Keeps `changes` to what was chosen. An undefined value forgets the former choice. */
export function keepDevices(changes) {
  try {
    localStorage.setItem(MEMORY_KEY, JSON.stringify({ ...recallDevices(), ...changes }));
  } catch {
    // The choice then lasts only as long as the page is open.
  }
}
