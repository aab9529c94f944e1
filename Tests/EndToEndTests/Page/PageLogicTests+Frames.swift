import BrowserDriver
import Foundation
import Processes
import TestSupport
import Testing

/// How the page reads, plays and confirms pictures that come over its WebSocket, and what it says of paths.
extension EndToEndInBrowser.PageLogicTests {
    static let frames = [
        (
            "a message with a picture or with sound is read; others are left out", "fallback/pictures",
            """
            const bytes = [1, 3, 0, 0, 0, 0, 1, 2, 0, 6, 10, 24, 30, 139, 64, 1, 0, 0, 0, 1, 103];
            const read = (list) => it.readFrame(Uint8Array.from(list).buffer);
            const picture = read(bytes);
            const others = [[], bytes.slice(0, 16), [2, ...bytes.slice(1)]].every((list) => read(list) === null);
            const time = (0x00060a18 * 2 ** 32 + 0x1e8b4001) / 1000;
            const sound = read([1, 4, ...bytes.slice(2, 16), 252, 9]);
            return others && sound.isSound && !sound.isKey && sound.captured === time && [...sound.unit].join() === '252,9'
              && !picture.isSound && picture.number === 258 && picture.isKey && picture.hasPointer && picture.captured === time
              && [...picture.unit].join() === '0,0,0,1,103' && !read([1, 0, ...bytes.slice(2)]).isKey
              && it.isNext(1, 0) && it.isNext(0, 2 ** 32 - 1) && !it.isNext(3, 1);
            """
        ),
        (
            "pictures are confirmed at once, but not more often than every 20 ms, and the last one always is",
            "fallback/pictures",
            """
            let time = 0;
            const [sent, waiting] = [[], []];
            const later = (action, delay) => waiting.push({ action, at: time + delay });
            const confirmations = new it.Confirmations((number) => sent.push(`${time}:${number}`), () => time, later);
            const pass = (until) => {
              for (const { action, at } of waiting.splice(0)) {
                if (at > until) waiting.push({ action, at });
                else { time = at; action(); }
              }
              time = until;
            };
            for (const [at, number] of [[0, 1], [5, 2], [10, 3], [25, 4], [60, 5], [61, 5]]) {
              pass(at);
              confirmations.confirm(number);
            }
            pass(100);
            confirmations.reset();
            confirmations.confirm(1);
            return sent.join() === '0:1,20:3,40:4,60:5,100:1';
            """
        ),
        (
            "NAL units are found between start codes of both lengths, and a broken parameter set is none", "fallback/annexb",
            """
            const units = it.nalUnits(Uint8Array.from([9, 0, 0, 0, 1, 103, 1, 0, 0, 1, 104, 2, 0, 0, 0, 0, 1, 101, 0, 0, 3, 1]));
            const { sps, pps, picture } = it.sorted(units);
            const found = [sps, pps, picture].map((list) => list.map((unit) => [...unit].join('.')).join()).join();
            const none = [[], [103], [103, 66, 0, 30], [103, 66, 0, 30, 255], [103, 66, 0, 30, 0, 0, 0, 0, 0, 0, 0, 0]]
              .every((list) => it.readSPS(Uint8Array.from(list)) === null);
            return found === '103.1,104.2,101.0.0.3.1' && none && it.nalUnits(new Uint8Array(3)).length === 0;
            """
        ),
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
    ]

    static let paths = [
        (
            "the path is that of the selected pair, and each better one has its reason", "figures/paths",
            """
            const report = new Map([
              { id: 'a', type: 'local-candidate', candidateType: 'host', protocol: 'udp', address: '192.168.1.2' },
              { id: 'b', type: 'local-candidate', candidateType: 'host', protocol: 'tcp', address: '192.168.1.2' },
              { id: 'c', type: 'local-candidate', candidateType: 'relay', protocol: 'udp', relayProtocol: 'tls',
                url: 'turns:relay.example:443', address: '2001:db8::1' },
              { id: 'r', type: 'remote-candidate', candidateType: 'host', protocol: 'udp', address: '10.0.0.1' },
              { id: '1', type: 'candidate-pair', localCandidateId: 'a', remoteCandidateId: 'r', state: 'in-progress' },
              { id: '2', type: 'candidate-pair', localCandidateId: 'b', remoteCandidateId: 'r', state: 'failed' },
              { id: '3', type: 'candidate-pair', localCandidateId: 'c', remoteCandidateId: 'r', state: 'succeeded' },
              { id: 't', type: 'transport', selectedCandidatePairId: '3' },
            ].map((one) => [one.id, one]));
            const answer = 'a=candidate:1 1 udp 9 10.0.0.1 5 typ host\\r\\na=candidate:2 1 tcp 8 10.0.0.1 5 typ host\\r\\n';
            const traces = { errors: [], answer, answered: 1000, report, servers: [{ urls: 'turns:relay.example:443' }] };
            const text = ({ used, others }) => [used?.kind, used?.host, used?.protocol, used?.local?.family,
              ...others.map(({ kind, key, code }) => [kind, key, code].filter(Boolean).join(':'))].join();
            const errors = [{ url: 'turns:relay.example:443', errorCode: 701, errorText: 'no route' }];
            const lost = { ...traces, errors, report: null, answer: '' };
            return text(it.readPaths(traces, false, 9000)) === 'relay,relay.example,tls,IPv6,udp:noAnswer,tcp:refused'
              && text(it.readPaths(lost, true, 9000)) === 'webSocket,,,,udp:notOffered,tcp:notOffered,relay:error:701'
              && text(it.readPaths({ ...lost, answered: 0, servers: [] }, false, 0))
                === ',,,,udp:trying,tcp:trying,relay:notConfigured'
              && text(it.readPaths(null, true, 0)) === 'webSocket,,,';
            """
        )
    ]

    private static let mp4Names = ["small.h264", "slices.h264", "every-idr.h264", "cropped.h264", "desktop.h264"]

    /// Makes MP4 of the access units of a stream in base64, each in a segment of its own, and returns that in base64.
    private static let muxer = """
        (async (stream) => {
          const { nalUnits, readSPS, sorted } = await import('/fallback/annexb.js');
          const { initSegment, join, mediaSegment, TIMESCALE } = await import('/fallback/mp4.js');
          const units = [];
          for (const unit of nalUnits(Uint8Array.from(atob(stream), (one) => one.charCodeAt(0)))) {
            const isPicture = [1, 5].includes(unit[0] & 31);
            // A picture begins with its first macroblock, or with what stands in front of that.
            const hasPicture = units.at(-1)?.some((one) => [1, 5].includes(one[0] & 31)) ?? true;
            if (hasPicture && !(isPicture && (unit[1] & 128) === 0)) units.push([]);
            units.at(-1).push(unit);
          }
          const parts = [];
          units.map(sorted).forEach(({ sps, pps, picture }, index) => {
            if (index === 0) parts.push(initSegment(sps, pps, readSPS(sps[0])));
            const isKey = picture.some((unit) => (unit[0] & 31) === 5);
            const [sequence, time] = [index + 1, index * TIMESCALE / 25];
            parts.push(mediaSegment({ sequence, time, duration: 3 * TIMESCALE, units: picture, isKey }));
          });
          let text = '';
          for (const byte of join(parts)) text += String.fromCharCode(byte);
          return btoa(text);
        })
        """

    @Test(
        "pictures become an MP4 that FFmpeg decodes to the same ones", .enabled(if: FFmpeg.isAvailable),
        .timeLimit(.minutes(1)))
    func muxing() throws {
        let folder = try TemporaryFolder()
        let host = try RunningProgram.host("unix:" + folder.file("s.sock"))
        let browser = try Browser.launch()
        let page = try browser.newPage(try host.printedLink())
        for stream in TestStreams.all where Self.mp4Names.contains(stream.name) {
            let bytes = Data(try stream.bytes()).base64EncodedString()
            let made = try page.evaluate("\(Self.muxer)('\(bytes)')", within: .seconds(20)).string
            let file = try folder.write("made.mp4", [UInt8](try #require(Data(base64Encoded: made ?? ""))))
            let decoded = try FFmpeg.decode(file)
            let original = try FFmpeg.decode(stream.path, input: ["-f", "h264"])
            #expect(decoded.status == .exited(0) && decoded.faults.isEmpty, "\(stream): \(decoded.messages)")
            #expect(!decoded.bytes.isEmpty && decoded.bytes == original.bytes, "\(stream)")
        }
        #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
    }
}
