// The end of the page's loading.

/**
 * A promise that ends when the page has been loaded, before any picture.
 *
 * A browser takes a page for loaded only when each video in it has its first picture, so a video gets its stream after
 * that. Only what an extension of the browser loads into the page can make this wait.
 */
export const loaded = new Promise((resume) => {
  if (document.readyState === "complete") resume();
  window.addEventListener("load", resume);
  setTimeout(resume, 1000);
});
