// Texts in the chat, in both languages. The chat's name is in meetingwords.js, because the page shows it before it has
// this part.

import { language } from "../words/messages.js";

export const en = {
  messages: "Messages",
  empty: "No messages yet.",
  write: "Message",
  send: "Send",
  addName: "Add your name to write",
  // Why a message wasn't passed on.
  refused: {
    rate: "Not sent: too many messages in a short time. Try again in a moment.",
    length: "Not sent: a message has at most 500 characters.",
    unnamed: "Not sent: add your name first.",
  },
};

export const zh = {
  messages: "消息",
  empty: "还没有消息。",
  write: "消息",
  send: "发送",
  addName: "填写名字后即可发言",
  refused: {
    rate: "未发送：短时间内消息过多，请稍后再试。",
    length: "未发送：每条消息最多 500 个字符。",
    unnamed: "未发送：请先填写名字。",
  },
};

/** Like `words` of messages.js. */
export const words = { en, zh }[language];
