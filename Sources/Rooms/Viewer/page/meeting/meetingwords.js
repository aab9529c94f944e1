// Texts about people, the meeting, several tracks and the password, in both languages.

import { cleanName } from "../element.js";
import { language } from "../words/messages.js";

export const en = {
  // Several tracks.
  tracks: "Shared screens",
  showTrack: (name) => `Show ${name}`,
  shownTrack: (name) => `${name}, shown now`,
  pinnedTrack: (name) => `${name}, shown now, pinned`,
  presented: (name, isCamera) => (name ? `${name}: ${isCamera ? "camera" : "screen"}` : isCamera ? "Camera" : "Screen"),
  hideTracks: "Hide thumbnails",
  showTracks: "Show thumbnails",
  trackState: { live: "", waiting: "No video yet", paused: "Paused", gone: "Outdated" },
  trackChosen: (name) => `${name} is shown.`,
  nextTrack: "Next shared screen",
  beside: "Shared screens side by side",
  laser: "Laser pointer",

  // The people in the room.
  people: "People",
  peopleCount: (count) => (count === 1 ? "1 person is watching" : `${count} people are watching`),
  you: "You",
  youNamed: (name) => `${name} (you)`,
  addName: "add your name",
  changeName: "change your name",
  inMeeting: "in the meeting",
  guest: (id) => `Guest ${String(id).slice(0, 4)}`,
  unlisted: (count) => (count === 1 ? "1 more person" : `${count} more people`),
  screens: (names) => `Shared screens: ${names.join(", ")}`,
  ownName: "Your name",
  keepName: "Save",
  close: "Close",

  // The meeting.
  meet: "Camera and microphone",
  cannotMeet: {
    noWebRTC: "Camera and microphone need WebRTC",
    insecure: "Camera and microphone need https",
    unsupported: "No camera or microphone in this browser",
  },
  meetOffer: "Everyone in the meeting will see and hear you. Nothing is on until you turn it on.",
  withCamera: "Camera and microphone",
  withMicrophone: "Microphone only",
  opening: "Opening …",
  leave: "Leave the meeting",
  mute: "Turn the microphone off",
  unmute: "Turn the microphone on",
  cameraOff: "Turn the camera off",
  cameraOn: "Turn the camera on",
  ownPicture: "You",
  pictureOf: (name) => `${name}'s camera`,
  muted: "Microphone off",
  connecting: "Connecting",
  lost: "Connection lost, trying again",
  alone: "No one else is in the meeting yet.",
  problems: {
    noWebRTC: "A meeting needs WebRTC, which is disabled or missing in this browser. You can still watch.",
    insecure:
      "Browsers allow camera and microphone only on pages opened with https, or on the machine that shares the " +
      "screen. You can still watch.",
    unsupported: "This browser doesn't support camera and microphone. You can still watch.",
    denied: "Camera and microphone are blocked in this browser's settings. You can still watch.",
    missing: "No camera or microphone was found. You can still watch.",
    busy: "Another program is using the camera or microphone. You can still watch.",
    noCamera: "Your camera is not available. The others can hear you.",
    noMicrophone: "Your microphone is not available. The others can see you.",
    unplugged: "The camera or microphone has been disconnected.",
    full: "The meeting is full.",
  },

  // The password.
  passwordTitle: "Password required",
  passwordWrong: "Wrong password. Try again.",
  password: "Password",
  enter: "Enter",
};

export const zh = {
  tracks: "共享的屏幕",
  showTrack: (name) => `显示 ${name}`,
  shownTrack: (name) => `${name}，正在显示`,
  pinnedTrack: (name) => `${name}，正在显示，已固定`,
  presented: (name, isCamera) => (name ? `${name}：${isCamera ? "摄像头" : "屏幕"}` : isCamera ? "摄像头" : "屏幕"),
  hideTracks: "隐藏小画面",
  showTracks: "显示小画面",
  trackState: { live: "", waiting: "暂无画面", paused: "已暂停", gone: "画面不是最新" },
  trackChosen: (name) => `正在显示 ${name}。`,
  nextTrack: "下一个共享的屏幕",
  beside: "并排显示共享的屏幕",
  laser: "激光笔",

  people: "人员",
  peopleCount: (count) => `${count} 人在观看`,
  you: "你",
  youNamed: (name) => `${name}（你）`,
  addName: "填写名字",
  changeName: "修改名字",
  inMeeting: "在会议中",
  guest: (id) => `访客 ${String(id).slice(0, 4)}`,
  unlisted: (count) => `另有 ${count} 人`,
  screens: (names) => `共享的屏幕：${names.join("、")}`,
  ownName: "你的名字",
  keepName: "保存",
  close: "关闭",

  meet: "摄像头和麦克风",
  cannotMeet: {
    noWebRTC: "摄像头和麦克风需要 WebRTC",
    insecure: "摄像头和麦克风需要 https",
    unsupported: "此浏览器不提供摄像头和麦克风",
  },
  meetOffer: "会议中的人能看到并听到你。在你开启之前，一切都是关闭的。",
  withCamera: "摄像头和麦克风",
  withMicrophone: "仅麦克风",
  opening: "正在打开…",
  leave: "离开会议",
  mute: "关闭麦克风",
  unmute: "打开麦克风",
  cameraOff: "关闭摄像头",
  cameraOn: "打开摄像头",
  ownPicture: "你",
  pictureOf: (name) => `${name} 的画面`,
  muted: "麦克风已关闭",
  connecting: "正在连接",
  lost: "连接中断，正在重试",
  alone: "会议中还没有其他人。",
  problems: {
    noWebRTC: "此浏览器没有或已关闭会议所需的 WebRTC。观看不受影响。",
    insecure: "浏览器只允许通过 https 打开的页面，或在共享屏幕的机器上打开的页面，使用摄像头和麦克风。观看不受影响。",
    unsupported: "此浏览器不向页面提供摄像头和麦克风。观看不受影响。",
    denied: "浏览器被设置为不允许使用摄像头或麦克风。观看不受影响。",
    missing: "这里没有摄像头或麦克风。观看不受影响。",
    busy: "摄像头或麦克风正被其他程序使用。观看不受影响。",
    noCamera: "没有摄像头：其他人能听到你。",
    noMicrophone: "没有麦克风：其他人能看到你。",
    unplugged: "摄像头或麦克风已断开。",
    full: "会议人数已满。",
  },

  passwordTitle: "需要密码",
  passwordWrong: "密码不正确，请重试。",
  password: "密码",
  enter: "进入",
};

/** Like `words` of messages.js. */
export const words = { en, zh }[language];

/** Returns the title of a track: presenter and kind for a share from the page, otherwise the track's text or name. */
export function titleOf({ name, text, data }) {
  if (isPresented({ data })) return words.presented(cleanName(data.presenter), name.startsWith("camera-"));
  return typeof text === "string" && text !== "" ? text : name;
}

/** Whether a member of the room publishes the track from the page. */
export function isPresented({ data }) {
  return typeof data?.presenter === "string";
}
