// Texts about pointing, in both languages. The name of the laser is in meetingwords.js, because the page shows it before
// it has this part.

import { language } from "../words/messages.js";

export const pointWords = {
  en: {
    needsName: "Add your name under People to use the laser pointer.",
    draws: "Press to draw. Lines fade after three seconds.",
  },
  zh: {
    needsName: "请先在“人员”中填写名字，再使用激光笔。",
    draws: "按住可画线，线条会在三秒后消失。",
  },
};

/** Like `words` of messages.js. */
export const words = pointWords[language];
