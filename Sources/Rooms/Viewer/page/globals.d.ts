// What the checker (tsc with jsconfig.json) doesn't know by itself: the page's own globals, and names of browsers that
// its library lacks. Browsers never see this file.

interface Window {
  /** The socket that the first script in index.html has begun to open. */
  earlySocket: WebSocket | null;
  /** The offer that the first script in index.html has begun to make. */
  earlyOffer: any;
  offerToReceive(hasSound: boolean, iceServers?: RTCIceServer[]): any;
  /** The page's state for outside observers. */
  screenRelay: any;
}

interface Document {
  getElementById(id: "video"): HTMLVideoElement;
}

/** Events of our own are `CustomEvent`s. */
interface Event {
  readonly detail?: any;
}

interface PerformanceEntry {
  /** Of a `PerformanceNavigationTiming`. */
  readonly type?: string;
}

interface MediaStreamTrack {
  /** Of a `CanvasCaptureMediaStreamTrack`. */
  requestFrame(): void;
}

interface Navigator {
  readonly connection?: any;
  readonly userActivation?: { readonly hasBeenActive: boolean };
}

interface Array<T> {
  findLast(predicate: (value: T, index: number) => unknown): T | undefined;
}

declare var MediaStreamTrackGenerator: any;
declare var VideoDecoder: any;
declare var EncodedVideoChunk: any;
declare var AudioDecoder: any;
declare var EncodedAudioChunk: any;
