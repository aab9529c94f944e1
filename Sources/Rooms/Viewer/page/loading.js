// Not a module: while the network changes, a module may fail to load, and then nothing else of the page would run.

document.querySelector("script[type=module]").addEventListener("error", () => {
  setTimeout(() => location.reload(), navigator.onLine === false ? 10_000 : 2000);
});
