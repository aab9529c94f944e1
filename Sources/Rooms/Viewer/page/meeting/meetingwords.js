// Texts about people, several tracks and the password, in both languages.

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
  laser: "Laser pointer; press to draw",

  // The chat.
  chat: "Chat",
  unread: (count) => (count === 1 ? "1 unread message" : `${count} unread messages`),

  // The people in the room.
  people: "People",
  peopleCount: (count) => (count === 1 ? "1 person is watching" : `${count} people are watching`),
  knocking: (count) => (count === 1 ? "1 person waits to be let in" : `${count} people wait to be let in`),
  guest: (id) => `Guest ${String(id).slice(0, 4)}`,

  // The meeting.
  meet: "Camera and microphone",

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
  laser: "激光笔，按住可画线",

  chat: "聊天",
  unread: (count) => `${count} 条未读消息`,

  people: "人员",
  peopleCount: (count) => `${count} 人在观看`,
  knocking: (count) => `${count} 人等待进入`,
  guest: (id) => `访客 ${String(id).slice(0, 4)}`,

  meet: "摄像头和麦克风",

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
