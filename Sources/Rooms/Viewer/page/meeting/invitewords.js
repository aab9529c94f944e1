// Texts about the invite link, in both languages.

import { language } from "../words/messages.js";

export const en = {
  inviteLink: "Invite link",
  copyLink: "Copy link",
  linkCopied: "The link has been copied.",
  copyByHand: "The browser does not allow that. The link is selected, so that you can copy it.",
  showCode: "QR code",
  codeOfLink: "QR code of the invite link",
  noCode: "A QR code of this link is not available.",
  linkPresents: "With this link, others can share into the room too.",
  linkIsLocal: "This link works only on this machine.",
};

export const zh = {
  inviteLink: "邀请链接",
  copyLink: "复制链接",
  linkCopied: "链接已复制。",
  copyByHand: "浏览器不允许复制。链接已选中，请自行复制。",
  showCode: "二维码",
  codeOfLink: "邀请链接的二维码",
  noCode: "无法显示此链接的二维码。",
  linkPresents: "拿到此链接的人也能向房间共享。",
  linkIsLocal: "此链接只能在本机上使用。",
};

/** Like `words` of messages.js. */
export const words = { en, zh }[language];
