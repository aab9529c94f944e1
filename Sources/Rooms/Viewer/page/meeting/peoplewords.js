// Texts in the panel of people, in both languages.

import { language } from "../words/messages.js";

export const en = {
  you: "You",
  youNamed: (name) => `${name} (you)`,
  addName: "add your name",
  changeName: "change your name",
  inMeeting: "in the meeting",
  unlisted: (count) => (count === 1 ? "1 more person" : `${count} more people`),
  screens: (names) => `Shared screens: ${names.join(", ")}`,
  ownName: "Your name",
  keepName: "Save",
  close: "Close",

  // The room's door.
  door: "Who may enter",
  waiting: "Waiting to be let in",
  entry: { admit: "Let in", refuse: "Refuse" },
  admitAll: "Let everyone in",
  lock: "Lock the room",
  unlock: "Unlock the room",
  locked: "The room is locked: no one else can enter.",
};

export const zh = {
  you: "你",
  youNamed: (name) => `${name}（你）`,
  addName: "填写名字",
  changeName: "修改名字",
  inMeeting: "在会议中",
  unlisted: (count) => `另有 ${count} 人`,
  screens: (names) => `共享的屏幕：${names.join("、")}`,
  ownName: "你的名字",
  keepName: "保存",
  close: "关闭",

  door: "谁可以进入",
  waiting: "等待进入",
  entry: { admit: "允许进入", refuse: "拒绝" },
  admitAll: "允许所有人进入",
  lock: "锁定房间",
  unlock: "解锁房间",
  locked: "房间已锁定，其他人无法进入。",
};

/** Like `words` of messages.js. */
export const words = { en, zh }[language];
