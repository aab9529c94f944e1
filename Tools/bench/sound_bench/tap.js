// Runs in the audio thread of the viewer's page: tells at which frame of the AudioContext each beep begins, and, if
// asked, hands on all samples of the first channel.
"use strict";
// The same as in pulse.py.
const LOUD = 0.1;
const QUIET = 9600;
const PIECE = 4800;
const SILENCE = new Float32Array(128);

class Tap extends AudioWorkletProcessor {
  constructor({ processorOptions: { keepsSamples } }) {
    super();
    this.piece = keepsSamples ? new Float32Array(PIECE) : null;
    this.filled = 0;
    this.quiet = 0;
  }

  process([[samples = SILENCE]]) {
    for (let place = 0; place < samples.length; place += 1) {
      if (Math.abs(samples[place]) < LOUD) {
        this.quiet += 1;
      } else {
        if (this.quiet >= QUIET) this.port.postMessage({ frame: currentFrame + place });
        this.quiet = 0;
      }
      if (this.piece) this.keep(samples[place]);
    }
    return true;
  }

  keep(sample) {
    this.piece[this.filled] = sample;
    this.filled += 1;
    if (this.filled < PIECE) return;
    this.port.postMessage({ piece: this.piece }, [this.piece.buffer]);
    this.piece = new Float32Array(PIECE);
    this.filled = 0;
  }
}

registerProcessor("tap", Tap);
