/// How the page plays and confirms pictures and sound that come over its WebSocket.
extension EndToEndInBrowser.PageLogicTests {
    static let frames = [
        (
            "that WebRTC has no H.264 is the end only if the browser can't play it here either, not if no host answers",
            "fallback/fallback",
            """
            const { VideoDecoder, MediaSource, ManagedMediaSource } = window;
            const failure = { title: 'no H.264', isFinal: true };
            const messages = { noAnswer: () => ({ title: 'no answer' }) };
            const page = { video: document.createElement('video'), messages, attempt: null, failure, make: null };
            const fail = (Source) => new Promise((resolve) => {
              Object.assign(window, { VideoDecoder: undefined, MediaSource: Source, ManagedMediaSource: undefined });
              new it.Fallback({ send() {} }, null, page, { onFailure: ({ title }) => resolve(title) }).open();
            });
            const run = async () => {
              const titles = [await fail(undefined), await fail({ isTypeSupported: () => true })];
              Object.assign(window, { VideoDecoder, MediaSource, ManagedMediaSource });
              return titles.join() === 'no H.264,no answer' || titles.join();
            };
            return run();
            """
        ),
        (
            "sound is asked for while it is heard, confirmed, and played as loud as it is", "fallback/framesound",
            heard("")
        ),
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
            "pictures wait for their sound as long as it is said, in order, and are confirmed at once",
            "fallback/frames",
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
