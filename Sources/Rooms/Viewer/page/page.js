// Assembles the page.

import { Bar } from "./view/bar.js";
import { ChatButton } from "./chat/chatbutton.js";
import { Charts } from "./figures/charts.js";
import { Controls } from "./view/controls.js";
import { Delay } from "./figures/delay.js";
import { addToBar, element, iconButton, relabel, setText } from "./element.js";
import { Face } from "./picture/face.js";
import { publishFacts } from "./view/facts.js";
import { FrameNews, isFramed } from "./view/framed.js";
import { Gestures } from "./view/gestures.js";
import { addViewKeys, Keys } from "./view/keys.js";
import { loaded } from "./loaded.js";
import { Measurements } from "./figures/measurements.js";
import { words as meetingWords } from "./meeting/meetingwords.js";
import { language, writeWords } from "./words/messages.js";
import { People } from "./meeting/people.js";
import { Pointer } from "./picture/pointer.js";
import { Prompt } from "./join/prompt.js";
import { Stage } from "./picture/stage.js";
import { Tracks } from "./meeting/tracks.js";
import { Turns } from "./present/turns.js";
import { View } from "./view/view.js";
import { Viewer } from "./join/viewer.js";

const LOOK_EVERY = 500;

document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
writeWords(document);

const video = document.getElementById("video");
const stage = new Stage();
const pointer = new Pointer(video, document.getElementById("pointer"));
const viewer = new Viewer(stage);
new Prompt(viewer);
const tracks = new Tracks(viewer);
const people = new People(viewer, !isFramed);
const turns = new Turns(viewer);
const delay = new Delay(viewer, video);
const measurements = new Measurements(viewer, stage, delay);
const charts = new Charts(viewer, stage, measurements);
const view = new View();
const controls = new Controls(view);
const bar = new Bar();
const face = new Face(viewer, stage, bar);
const gestures = new Gestures(view);
const keys = new Keys();
const frameNews = isFramed ? new FrameNews(window.parent) : null;

stage.onAction = () => viewer.act();
stage.onFirstPicture = () => viewer.firstPicture();
stage.onPlayBlocked = () => viewer.playBlocked();
view.onChange = () => controls.modeChanged();
charts.onToggle = () => bar.figures(measurements.line, charts.isOpen);
bar.mustStay = () => stage.isCovered || charts.isOpen;
gestures.onTap = () => (bar.isIdle ? bar.wake() : bar.sleep());
gestures.onDoubleClick = () => controls.toggleFullScreen();
addViewKeys(keys, { view, controls, charts, bar });
let meeting = null;
let isMeetingAsked = false;
keys.add("t", meetingWords.nextTrack, () => tracks.next());
keys.add("b", meetingWords.beside, () => tracks.toggleBeside());
keys.add("n", meetingWords.people, () => people.toggle());
if (!isFramed) keys.add("m", meetingWords.meet, () => (meeting ? meeting.toggle() : (isMeetingAsked = true)));

let newest = null;
viewer.addEventListener("stream", async ({ detail: stream }) => {
  newest = stream;
  await loaded;
  if (newest !== stream) return;
  pointer.watch(stream);
  stage.show(stream);
});
for (const type of ["left", "shown"]) viewer.addEventListener(type, () => pointer.reset());
const takers = {
  _pointer_shape: (data) => pointer.shape(data),
  _pointer: (data) => {
    pointer.place(data);
    view.tell(data);
  },
  // A picture that came over the WebSocket says itself whether the pointer is in it.
  _pointer_mode: (data) => viewer.reception?.isByWebSocket || pointer.mode(data),
};
for (const [type, take] of Object.entries(takers)) {
  viewer.addEventListener(type, ({ detail }) => {
    if (viewer.tracks.isShown(detail.track)) take(detail);
  });
}
viewer.addEventListener("presented", ({ detail }) => pointer.mode({ drawn: detail.hasPointer }));
let lastSound = "none";
viewer.addEventListener("change", () => {
  if (viewer.sound !== "none") hear();
  // The bar says so.
  if (viewer.sound === "muted" && lastSound !== "muted") bar.wake();
  lastSound = viewer.sound;
  draw();
});
// Loaded only to choose devices, so that the page itself stays small.
const choice = () => import("./choice/choice.js");
let lastRequests = 0;
viewer.addEventListener("_turns", () => {
  // A button in the bar has their number.
  if (turns.requests > lastRequests) bar.wake();
  lastRequests = turns.requests;
});
viewer.addEventListener("knock", () => bar.wake());
// The browser may have kept this page from an earlier visit, and the host may have another one by now.
viewer.addEventListener("_peers", ({ detail }) => {
  const isReloaded = performance.getEntriesByType("navigation")[0]?.type === "reload";
  const { version } = document.documentElement.dataset;
  if (detail.page && version && detail.page !== version && !isReloaded) location.reload();
}, { once: true });

/** Waits until there is a picture, or none soon. */
function settled() {
  return new Promise((resume) => {
    const done = new AbortController();
    done.signal.addEventListener("abort", resume);
    setTimeout(() => done.abort(), 2000);
    const look = () => { if (viewer.phase === "playing") done.abort(); };
    viewer.addEventListener("change", look, { signal: done.signal });
  });
}

// Loaded once there is a picture, or none soon, so that the page itself stays small.
let isMeetingWanted = false;
viewer.addEventListener("joined", async () => {
  if (isMeetingWanted || isFramed) return;
  isMeetingWanted = true;
  await settled();
  try {
    const { Meeting } = await import("./meeting/meeting.js");
    const { InviteLink } = await import("./meeting/invitelink.js");
    meeting = new Meeting(viewer, turns, choice);
    document.getElementById("people").append(new InviteLink(viewer, turns.own).root);
    if (isMeetingAsked) meeting.toggle();
  } catch {
    // It didn't come, and is asked for again with the next visit.
    isMeetingWanted = false;
  }
});

// Loaded only in rooms where people present, so that the page itself stays small.
let presenting = null;
let isPresentingWanted = false;
viewer.addEventListener("_peers", async () => {
  if (turns.own === null || isPresentingWanted || isFramed) return;
  isPresentingWanted = true;
  if (!turns.mayPresent) await settled();
  try {
    const { Presenting } = await import("./present/presenting.js");
    presenting = new Presenting(viewer, turns, choice);
  } catch {
    isPresentingWanted = false;
  }
});

// Loaded only if a viewer points, so that the page itself stays small.
const point = (event) => import("./point/pointing.js").then((it) => it.point(viewer, laser, event.detail), () => {});
const laser = iconButton("M4 20 14 10M17 3.5v3M20.5 7h-3", meetingWords.laser, point);
laser.hidden = true;
addToBar(laser);
if (!isFramed) keys.add("l", meetingWords.laser, (event) => !laser.hidden && point(event));
viewer.addEventListener("_point", point);
viewer.addEventListener("change", () => {
  laser.hidden ||= viewer.isOver;
});
for (const type of ["_peers", "_pointing"]) {
  viewer.addEventListener(type, ({ detail }) => {
    laser.hidden = isFramed || !detail.pointing;
  });
}

if (!isFramed) {
  const chat = new ChatButton(viewer);
  keys.add("h", meetingWords.chat, () => chat.toggle());
  viewer.addEventListener("_chat", () => bar.wake());
}

// Loaded only if there is sound, so that the page itself stays small. It goes on by itself then.
let isSoundWanted = false;
function hear() {
  if (isSoundWanted) return;
  isSoundWanted = true;
  import("./sound/sound.js").then(
    ({ Sound }) => new Sound({ viewer, stage, video, keys, language, choice, element, iconButton, relabel, setText }),
    () => {
      isSoundWanted = false;
    },
  );
}

function draw() {
  pointer.live(viewer.source.state === "live");
  face.draw();
  bar.figures(measurements.line, charts.isOpen);
  frameNews?.tell(viewer, stage.pictureSize);
}

function begin() {
  viewer.start();
  const { name } = viewer.link;
  document.title = name ? `${name} – ScreenRelay` : "ScreenRelay";
  setText(document.getElementById("title"), document.title);
}

window.addEventListener("hashchange", begin);
window.addEventListener("online", () => viewer.hurry(true));
// It also tells of each new estimate of the rate, which says nothing of paths.
let medium = navigator.connection?.type;
navigator.connection?.addEventListener?.("change", ({ target }) => {
  if (target.type !== medium) viewer.seekPath();
  medium = target.type;
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) viewer.hurry();
});

publishFacts({
  viewer, stage, video, pointer, delay, measurements, view, tracks, people,
  get meeting() {
    return meeting;
  },
  get presenting() {
    return presenting;
  },
});

(async () => {
  begin();
  await loaded;
  for (;;) {
    if (viewer.reception?.peer && !pointer.isExact) pointer.presented(viewer.reception.peer.playedTimestamp);
    await viewer.look().catch(() => {});
    try {
      if (measurements.sample()) charts.update();
      draw();
    } catch (problem) {
      // The next look may find a dead connection.
      console.error(problem);
    }
    await new Promise((resume) => setTimeout(resume, LOOK_EVERY));
  }
})();
