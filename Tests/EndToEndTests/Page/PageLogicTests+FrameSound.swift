import BrowserDriver
import Foundation
import Processes
import TestSupport
import Testing

/// How the page places, plays and confirms sound that comes over its WebSocket.
extension EndToEndInBrowser.PageLogicTests {
    static let frameSound = [
        (
            "a packet's first bytes say how long it lasts", "fallback/opus",
            """
            const packets = [[0xfc], [0xe0], [0x08, 1], [0x1b, 2], [0x79], [0xff, 6], [0x1b, 3], [0xff, 7], [], [0xff]];
            const lengths = packets.map((packet) => it.sampleCount(Uint8Array.from(packet)));
            return lengths.join() === '960,120,960,5760,1920,5760,0,0,0,0';
            """
        ),
        (
            "pieces follow each other without a gap, 60 ms after they came, whatever the two clocks say", "fallback/jitter",
            """
            \(pieces)
            const { placed, waits } = play(500, (time) => time + 30 + (time / 20 % 3) * 5);
            const joints = placed.every(({ at, count }, index) => index === 0 || at === end(placed[index - 1]));
            return placed.length === 500 && joints && Math.round(waits[0]) === 60
              && placed.every(({ count }) => count === 960);
            """
        ),
        (
            "clocks that drift apart shorten or lengthen pieces a little, without a gap", "fallback/jitter",
            """
            \(pieces)
            return [200, -200].every((drift) => {
              const { placed, waits } = play(30_000, (time) => time + 30, drift);
              const joints = placed.every((one, index) => index === 0 || one.at === end(placed[index - 1]));
              const lengths = [...new Set(placed.map(({ count }) => count))].sort().join();
              return placed.length === 30_000 && joints && Math.min(...waits) > 19 && Math.max(...waits) < 82
                && lengths === (drift > 0 ? '960,965' : '955,960');
            });
            """
        ),
        (
            "after a stall the newest is played, and the sound doesn't fall behind; a longer path is waited for",
            "fallback/jitter",
            """
            \(pieces)
            const stall = play(1000, (time) => (time > 5000 && time < 5200 ? 5230 : time + 30));
            const longer = play(1000, (time) => time + (time < 5000 ? 30 : 180));
            const mostLost = [stall, longer].every(({ placed }) => placed.length >= 990 && placed.length < 1000);
            return mostLost && Math.max(...stall.waits) < 90 && Math.max(...longer.waits) < 90
              && longer.waits.at(-1) > 19 && stall.waits.at(-1) > 19;
            """
        ),
        (
            "when a longer path is as short again, the wait is so too within seconds, without a gap", "fallback/jitter",
            """
            \(pieces)
            const isLonger = (time) => time >= 5000 && time < 25_000;
            const arrive = (time) => (isLonger(time) ? time + 400 : Math.max(time > 5000 ? 25_380 : 0, time + 30));
            const { placed, waits } = play(2000, arrive);
            const last = placed.slice(-1500);
            const joints = last.every((one, index) => index === 0 || one.at === end(last[index - 1]));
            return Math.max(...waits) > 400 && Math.max(...waits.slice(-50)) < 90 && waits.at(-1) > 19 && joints;
            """
        ),
        (
            "where captures are closer to each other than pieces are long, a piece is left out at times, without a gap",
            "fallback/jitter",
            """
            \(pieces)
            const { placed, waits } = play(5000, (time) => time + 30, 0, 19.95);
            const joints = placed.every((one, index) => index === 0 || one.at === end(placed[index - 1]));
            return joints && placed.length > 4980 && placed.length < 4995 && Math.min(...waits) > 40
              && Math.max(...waits) < 90;
            """
        ),
        (
            "a longer or shorter piece has the same wave", "fallback/jitter",
            """
            const wave = (length, period) => Float32Array.from({ length }, (_, index) => Math.sin(index / period));
            const made = it.stretched(wave(960, 17), 965);
            const wanted = wave(965, 17 * 965 / 960);
            const isNear = made.every((sample, index) => Math.abs(sample - wanted[index]) < 0.001);
            return made.length === 965 && isNear && it.stretched(wanted, 965) === wanted;
            """
        ),
        ("sound is asked for while it is heard, confirmed, and played as loud as it is", "fallback/framesound", heard("")),
        ("the same by Media Source", "fallback/framesound", heard("window.AudioDecoder = undefined;")),
        (
            "where sound can't be played at first, it is off, and may be turned on later", "fallback/framesound",
            """
            const AudioContext = window.AudioContext;
            window.AudioContext = class {
              constructor() { throw new Error('no device'); }
            };
            \(unmuted)
            const run = async () => {
              const isPossible = await sound.open();
              window.AudioContext = AudioContext;
              const isOff = video.muted && sent.length === 0;
              video.muted = false;
              const isOn = await eventually(() => sent.join() === '__frames_sound');
              sound.close();
              return isPossible && isOff && isOn;
            };
            return run();
            """
        ),
        (
            "a Media Source that has broken is replaced, but not at once again", "fallback/framesound",
            """
            const { Audio, AudioDecoder } = window;
            const made = [];
            window.AudioDecoder = undefined;
            window.Audio = function () {
              made.push(new Audio());
              return made.at(-1);
            };
            \(unmuted)
            const take = (number) => {
              sound.take({ number, captured: number * 20, unit: Uint8Array.from([0xfc, 0xff, 0xfe]) });
              return made.length;
            };
            const fail = () => Object.defineProperty(made.at(-1), 'error', { value: { code: 3 } });
            const run = async () => {
              await sound.open();
              const before = take(1);
              fail();
              let number = 2;
              const isReplaced = await eventually(() => take(number++) === 2);
              fail();
              const atOnce = take(number++);
              sound.close();
              Object.assign(window, { Audio, AudioDecoder });
              return (before === 1 && isReplaced && atOnce === 2) || { before, isReplaced, atOnce };
            };
            return run();
            """
        ),
        (
            "a way out that was stopped goes on, until it is closed", "fallback/speaker",
            """
            \(waiting)
            const speaker = new it.Speaker(1, () => {});
            const { context } = speaker;
            const states = [];
            context.addEventListener('statechange', () => states.push(context.state));
            const run = async () => {
              await eventually(() => speaker.isRunning);
              await context.suspend();
              const isResumed = await eventually(() => states.join().endsWith('suspended,running'));
              speaker.close();
              const isClosed = await eventually(() => states.at(-1) === 'closed');
              return (isResumed && isClosed) || states.join();
            };
            return run();
            """
        ),
        (
            "pictures wait for their sound as long as it is said, in order, and are confirmed at once", "fallback/frames",
            """
            const sent = [];
            const signalling = { send: (name, data) => sent.push(`${name} ${data.number ?? ''}`.trim()) };
            const presented = [];
            const reception = new it.FrameReception(signalling, null, document.createElement('video'),
              { onConnected() {}, onStream() {}, onPresented() {}, onFailure() {} });
            const message = (number) => {
              const bytes = new Uint8Array(18);
              bytes.set([1, 0, 0, 0, 0, 0, 0, number]);
              return bytes.buffer;
            };
            reception.heard('_frames');
            sent.length = 0;
            const wait = (time) => new Promise((resume) => setTimeout(resume, time));
            reception.hold(200);
            // No key picture: when it is due, it is asked for one.
            reception.take(message(1));
            return wait(50).then(() => {
              const early = sent.join();
              return wait(300).then(() => {
                const late = sent.join();
                reception.close();
                return early === '__frames_seen 1' && late === '__frames_seen 1,__frames_key';
              });
            });
            """
        ),
    ]

    /// Places pieces of 20 ms as they come; `arrive` says when, in milliseconds, `drift` how much too fast this
    /// device's clock is, in millionths, and `step` how far apart their captures are, in milliseconds.
    private static let pieces = """
        const end = ({ at, count }) => at + count;
        const play = (number, arrive, drift = 0, step = 20) => {
          const buffer = new it.JitterBuffer();
          const [placed, waits] = [[], []];
          for (let index = 0; index < number; index += 1) {
            const now = arrive(index * step) * 48 * (1 + drift / 1e6);
            const place = buffer.place(1.7e12 + index * step, 960, now);
            if (!place) continue;
            placed.push(place);
            waits.push((place.at - now) / 48);
          }
          return { placed, waits };
        };
        """

    /// Waits up to five seconds for a condition.
    private static let waiting = """
        const eventually = async (condition) => {
          for (const end = performance.now() + 5000; performance.now() < end;) {
            if (condition()) return true;
            await new Promise((resume) => setTimeout(resume, 10));
          }
          return false;
        };
        """

    /// A video whose sound is on, and that sound.
    private static let unmuted = """
        \(waiting)
        const sent = [];
        const video = document.createElement('video');
        const sound = new it.FrameSound(video, (name) => sent.push(name));
        sound.begin();
        sound.play(true);
        """

    /// Has the page hear a tone that it has encoded itself; `change` is done before.
    private static func heard(_ change: String) -> String {
        """
        const AudioDecoder = window.AudioDecoder;
        \(change)
        const RATE = 48_000;
        const packets = [];
        const encoder = new AudioEncoder({
          output: (chunk) => {
            const unit = new Uint8Array(chunk.byteLength);
            chunk.copyTo(unit);
            packets.push(unit);
          },
          error: (problem) => console.error(problem),
        });
        encoder.configure({ codec: 'opus', sampleRate: RATE, numberOfChannels: 2 });
        const sample = (_, index) => 0.5 * Math.sin(((index % RATE) * 440 * 2 * Math.PI) / RATE);
        const tone = Float32Array.from({ length: RATE * 2 }, sample);
        encoder.encode(new AudioData({ format: 'f32-planar', sampleRate: RATE, numberOfFrames: RATE,
          numberOfChannels: 2, timestamp: 0, data: tone }));
        const sent = [];
        const video = document.createElement('video');
        video.muted = true;
        const sound = new it.FrameSound(video, (name, data) => sent.push([name, data]));
        const wait = (time) => new Promise((resume) => setTimeout(resume, time));
        const asked = () => sent.filter(([name]) => name === '__frames_sound').map(([, { on }]) => on).join();
        const run = async () => {
          await encoder.flush();
          const isPossible = await sound.open();
          sound.begin();
          sound.play(true);
          const isQuiet = asked() === '';
          video.muted = false;
          while (asked() === '') await wait(10);
          let [number, level, delay] = [0, 0, NaN];
          const begin = performance.now();
          while ((level < 0.4 || !(delay > 0)) && number < 500) {
            for (; number * 20 < performance.now() - begin; number += 1) {
              sound.take({ number: number + 1, captured: begin + number * 20, unit: packets[number % packets.length] });
            }
            await wait(5);
            level = Math.max(level, sound.level);
            delay = sound.delay;
          }
          const heard = sent.filter(([name]) => name === '__frames_heard').map(([, { number }]) => number);
          const isLoud = level > 0.4 && level < 0.7 && delay > 20 && delay < 1000 && sound.packets === number;
          video.muted = true;
          while (asked() === 'true') await wait(10);
          const isOver = asked() === 'true,false' && sound.level === 0;
          sound.close();
          window.AudioDecoder = AudioDecoder;
          const isRare = heard.length > 0 && heard.length <= number / 2;
          const isRight = isPossible && isQuiet && isLoud && isOver && isRare;
          return isRight || { isPossible, isQuiet, isLoud, isOver, isRare, level, delay, number, asked: asked() };
        };
        return run();
        """
    }
}
