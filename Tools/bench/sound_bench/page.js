// Runs in the viewer's page before its own scripts, and keeps what the sound bench asks for. Times are milliseconds of
// performance.now().
"use strict";
(() => {
  const RATE = 48_000;
  const CLOCK_EVERY = 100;
  // A beep begins with the first sample of this size after so many samples without one. tap.js has the same numbers.
  const LOUD = 0.1;
  const QUIET = 9600;
  // A flash fills the picture, so that a few points of it suffice.
  const POINTS = 8;

  const bench = {};
  const connections = [];
  let flashes = [];
  let beeps = [];
  let clock = [];
  let counts = [];
  let pieces = [];
  let rate = RATE;
  let problem = null;
  // In milliseconds; null before the browser has told it twice.
  let playoutDelay = null;
  let playedBefore = null;

  window.RTCPeerConnection = new Proxy(window.RTCPeerConnection, {
    construct(target, values) {
      const made = new target(...values);
      connections.push(made);
      return made;
    },
  });

  const video = () => document.querySelector("#video");
  const soundTrack = () => video().srcObject.getAudioTracks()[0];

  /** Keeps when the picture becomes bright: when it was handed to the browser's compositor, and when it is expected. */
  bench.watchFlashes = () => {
    const context = new OffscreenCanvas(POINTS, POINTS).getContext("2d", { willReadFrequently: true });
    let wasBright = false;
    const look = (now, { presentationTime, expectedDisplayTime }) => {
      video().requestVideoFrameCallback(look);
      context.drawImage(video(), 0, 0, POINTS, POINTS);
      const { data } = context.getImageData(0, 0, POINTS, POINTS);
      let green = 0;
      for (let place = 1; place < data.length; place += 4) green += data[place];
      const isBright = green > POINTS * POINTS * 128;
      if (isBright && !wasBright) flashes.push([presentationTime, expectedDisplayTime]);
      wasBright = isBright;
    };
    video().requestVideoFrameCallback(look);
  };

  /** Hands each piece of the sound to `take`, as WebRTC hands it out: its samples, its rate, and when it came. */
  const read = async (take) => {
    const reader = new MediaStreamTrackProcessor({ track: soundTrack(), maxBufferSize: 1000 }).readable.getReader();
    for (;;) {
      const { value: sound, done } = await reader.read();
      if (done) return;
      const samples = new Float32Array(sound.numberOfFrames);
      sound.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
      const { sampleRate } = sound;
      sound.close();
      take(samples, sampleRate, performance.now());
    }
  };

  /**
   * Begins to keep beeps, and when the speaker plays which second of the sound: when WebRTC handed it out, and what the
   * browser says that its output adds. The earliest of ten pieces counts, since this thread may be busy.
   */
  bench.hear = () => {
    let position = 0;
    let quiet = 0;
    let earliest = Infinity;
    let pieceCount = 0;
    read((samples, sampleRate, time) => {
      for (let place = 0; place < samples.length; place += 1) {
        if (Math.abs(samples[place]) < LOUD) {
          quiet += 1;
        } else {
          if (quiet >= QUIET) beeps.push((position + place) / sampleRate);
          quiet = 0;
        }
      }
      // It was pulled to be played after what the output still holds.
      earliest = Math.min(earliest, time - (1000 * position) / sampleRate);
      position += samples.length;
      pieceCount += 1;
      if (pieceCount % 10 || playoutDelay === null) return;
      const second = position / sampleRate;
      clock.push([second, earliest + 1000 * second + playoutDelay]);
      earliest = Infinity;
    }).catch((error) => { problem = String(error); });
  };

  /** Plays the sound through `tap`, the text of tap.js, too, which keeps beeps and, if asked, samples. */
  bench.listen = async (tap, keepsSamples) => {
    const context = new AudioContext({ sampleRate: RATE, latencyHint: "interactive" });
    const address = URL.createObjectURL(new Blob([tap], { type: "text/javascript" }));
    await context.audioWorklet.addModule(address);
    const node = new AudioWorkletNode(context, "tap", { processorOptions: { keepsSamples } });
    node.port.onmessage = ({ data }) => {
      if (data.piece) pieces.push(data.piece);
      else beeps.push(data.frame / RATE);
    };
    // The tap itself is silent, but what leads nowhere isn't asked for samples.
    context.createMediaStreamSource(new MediaStream([soundTrack()])).connect(node).connect(context.destination);
    await context.resume();
    // When the speaker plays which second of the context.
    setInterval(() => {
      const { contextTime, performanceTime } = context.getOutputTimestamp();
      if (contextTime > 0) clock.push([contextTime, performanceTime]);
    }, CLOCK_EVERY);
    // What nobody holds may be collected.
    bench.context = context;
    return { base_latency_ms: 1000 * context.baseLatency, output_latency_ms: 1000 * context.outputLatency };
  };

  /** Keeps all samples of the first channel as WebRTC hands them out, without the buffers of an AudioContext. */
  bench.startRecord = () => {
    read((samples, sampleRate) => {
      rate = sampleRate;
      pieces.push(samples);
    }).catch((error) => { problem = String(error); });
  };

  /** The browser's counters of the incoming sound and pictures; null before there are any. */
  bench.count = async () => {
    for (const connection of connections) {
      if (connection.connectionState !== "connected") continue;
      const entry = { time: performance.now() };
      for (const one of (await connection.getStats()).values()) {
        if (one.type === "inbound-rtp") entry[one.kind] = one;
        if (one.type === "media-playout") entry.output = one;
      }
      if (entry.audio && entry.video) return entry;
    }
    return null;
  };

  /** Keeps the counters every so many milliseconds. The browser renews them every 50 ms at most. */
  bench.countEvery = (interval) => {
    setInterval(async () => {
      const entry = await bench.count().catch(() => null);
      if (!entry) return;
      const { audio, video: pictures, output } = entry;
      const count = output ? output.totalSamplesCount - (playedBefore?.totalSamplesCount ?? 0) : 0;
      if (count > 0) {
        // Each sample counts with the delay that it has.
        playoutDelay = (1000 * (output.totalPlayoutDelay - (playedBefore?.totalPlayoutDelay ?? 0))) / count;
        playedBefore = output;
      }
      counts.push({
        time: entry.time,
        packets: audio.packetsReceived,
        decoded: pictures.framesDecoded,
        playoutDelay,
        // How much later than a picture the sound of the same moment is played, as the browser itself sees it.
        lag: audio.estimatedPlayoutTimestamp && pictures.estimatedPlayoutTimestamp
          ? pictures.estimatedPlayoutTimestamp - audio.estimatedPlayoutTimestamp : null,
      });
    }, interval);
  };

  bench.take = () => {
    const taken = { flashes, beeps, clock, counts };
    flashes = [];
    beeps = [];
    clock = [];
    counts = [];
    return taken;
  };

  bench.takeSamples = async () => {
    if (problem) throw new Error(problem);
    if (pieces.length === 0) return { rate, samples: "" };
    const taken = new Blob(pieces);
    pieces = [];
    const reader = new FileReader();
    return new Promise((resolve, reject) => {
      reader.onload = () => resolve({ rate, samples: reader.result.slice(reader.result.indexOf(",") + 1) });
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(taken);
    });
  };

  window.soundBench = bench;
})();
