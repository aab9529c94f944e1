/// How the page finds out how old its pictures are.
extension EndToEndInBrowser.PageLogicTests {
    static let delay = [
        (
            "a picture's delay begins with a change and ends on the screen, whatever is expected; a keep-alive has none",
            "figures/delay",
            """
            const viewer = new EventTarget();
            viewer.send = () => {};
            const video = { requestVideoFrameCallback(look) { this.look = look; } };
            const delay = new it.Delay(viewer, video);
            viewer.dispatchEvent(new CustomEvent('stream', { detail: {} }));
            const begin = performance.now();
            const show = (seconds, rtp, expected) => {
              const captureTime = begin + seconds * 1000;
              video.look(0, { captureTime, receiveTime: captureTime + 18, presentationTime: captureTime + 20,
                expectedDisplayTime: captureTime + expected, rtpTimestamp: rtp >>> 0 });
            };
            const taken = () => Math.round(delay.take());
            const none = delay.take() === null && !delay.isKnown;
            // Chromium's expectation is ahead by the interval between pictures, or behind by it; the time stamp wraps.
            show(1, 2 ** 32 - 90_000, 1020);
            const first = taken() === 30 && delay.isKnown;
            const answer = (waited) => viewer.dispatchEvent(
              new CustomEvent('_clock', { detail: { t: 0, received: 0, sent: 0, waited } }));
            answer(2600);
            show(1.5, 2 ** 32 - 45_000, -480);
            const second = Math.round(delay.state.browsers) === 20 && taken() === 33;
            answer();
            show(4, 2 ** 32 + 180_000, 2520);
            show(6.5, 2 ** 32 + 405_033, 2520);
            const still = delay.take() === null && delay.isKnown;
            for (const late of [0, 180, 2]) {
              video.look(0, { captureTime: begin + 6000, presentationTime: begin + 6600 + late, rtpTimestamp: 414_000 });
            }
            return none && first && second && still && taken() === 612;
            """
        ),
        (
            "the delay of a page that has just been opened is awaited, for a while", "figures/measurements",
            """
            const viewer = Object.assign(new EventTarget(), { phase: 'playing', source: { state: 'live' }, silence: null });
            const meter = { isKnown: false, take: () => null };
            const measured = new it.Measurements(viewer, { pictureSize: { width: 0, height: 0 } }, meter);
            const first = measured.awaitsDelay && !measured.knowsDelay;
            for (let time = 0; time < 20_000; time += 1000) {
              viewer.reception = { counted: { time, packets: time, lost: 0, framesDecoded: time, bytes: time, roundTrip: 1 } };
              measured.sample();
            }
            const last = measured.awaitsDelay;
            meter.isKnown = true;
            return first && !last && !measured.awaitsDelay && measured.knowsDelay;
            """
        ),
        (
            "pictures that are sent again, because none has come for a while, are no rate", "figures/measurements",
            """
            const viewer = Object.assign(new EventTarget(), { phase: 'playing', source: { state: 'live' }, silence: null });
            const meter = { isKnown: true, take: () => null };
            const measured = new it.Measurements(viewer, { pictureSize: { width: 0, height: 0 } }, meter);
            for (let time = 0; time < 8000; time += 1000) {
              const captured = Math.min(time, 5000);
              const counted = { time, packets: time, lost: 0, framesDecoded: time / 100, bytes: time, roundTrip: 1, captured };
              viewer.reception = { counted };
              measured.sample();
            }
            return measured.frameRate.last().join() === '10,10,10,0,0';
            """
        ),
        (
            "the silence of a source that was steady is told after six seconds in which the page was awake",
            "picture/silence",
            """
            const silence = new it.Silence();
            const look = (framesDecoded, seconds, captured = null, isDue = true) => {
              silence.look({ framesDecoded, captured, time: seconds * 1000 }, isDue);
              return silence.seconds;
            };
            // One picture, and then none: an application that shows a slide.
            for (let time = 0; time < 20; time += 0.5) if (look(1, time) !== null) return false;
            // A capture with a keep-alive each 2.5 s, then nothing; 20 s of sleep are no more than one second.
            for (let time = 20; time <= 28; time += 0.5) if (look(Math.floor(time / 2.5), time) !== null) return false;
            let told = null;
            for (let time = 28.5; time < 33; time += 0.5) told ??= look(11, time);
            const asleep = told === null && look(11, 53) === 6;
            const back = look(12, 54.5) === null;
            // Not while none is due; and what is sent once more is no new picture.
            for (let time = 55; time < 70; time += 0.5) if (look(12, time, null, false) !== null) return false;
            for (let time = 70; time < 80; time += 1) if (look(time, time, time) !== null) return false;
            for (let time = 80; time < 86; time += 0.5) told = look(time * 10, time, 79);
            return asleep && back && told === 6;
            """
        ),
        (
            "the silence of a source that the host calls steady is told after six seconds, however new the page is",
            "picture/silence",
            """
            const silence = new it.Silence();
            let told = null;
            for (let time = 0; told === null && time < 20; time += 0.5) {
              silence.look({ framesDecoded: 1, captured: null, time: time * 1000 }, true, true);
              if (silence.seconds !== null) told = time;
            }
            silence.look({ framesDecoded: 2, captured: null, time: 20_000 }, true, true);
            return told === 6 && silence.seconds === null;
            """
        ),
    ]
}
