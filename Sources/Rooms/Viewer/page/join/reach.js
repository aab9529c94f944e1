// Finds out when the host can be reached again.

// A probe is sent this often, at first and later. A browser that waits for a connection sends only after 1, 3 and 7
// seconds again.
const OFTEN = 400;
const RARELY = 5000;
const OFTEN_FOR = 120_000;
const PROBE_TIMEOUT = 4000;

/** Asks for a small file again and again while no answer comes at all, because the network between is down. */
export class Reach {
  #timer = null;
  #attempt = null;

  /**
   * Calls `reached` at the first answer after a time without any, unless `stop` is called before. If the host is
   * reached or refuses at once, it isn't called, because then the network is not what is missing.
   */
  await(reached) {
    this.stop();
    const attempt = this.#attempt = { began: performance.now(), hasWaited: false };
    const probe = () => {
      const asked = performance.now();
      // @ts-ignore: the checker's library doesn't know AbortSignal.timeout.
      fetch("favicon.svg", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(PROBE_TIMEOUT) }).then(
        ({ ok }) => {
          if (this.#attempt !== attempt) return;
          this.stop();
          if (ok && attempt.hasWaited) reached();
        },
        () => {
          const isRefused = performance.now() - asked < OFTEN && navigator.onLine !== false;
          if (this.#attempt === attempt && isRefused && !attempt.hasWaited) this.stop();
        },
      );
      const isLong = asked - attempt.began > OFTEN_FOR;
      this.#timer = setTimeout(() => {
        attempt.hasWaited = true;
        probe();
      }, isLong ? RARELY : OFTEN);
    };
    probe();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#attempt = null;
  }
}

/** Whether the host refuses this page's WebSocket by its origin, of which the browser says nothing. */
export const refusesPage = (socket) =>
  // @ts-ignore: the checker's library doesn't know AbortSignal.timeout.
  fetch(socket.replace(/^ws/, "http"), { method: "POST", signal: AbortSignal.timeout(PROBE_TIMEOUT) }).then(
    ({ status }) => status === 403, () => false);
