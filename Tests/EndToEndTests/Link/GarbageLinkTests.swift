import CaptureLink
import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Garbage on the link", .enabled(if: EndToEnd.isPossible))
    struct GarbageOnTheLink {
        @Test("ends that connection with an error in the log, and the stream goes on")
        func garbage() throws {
            let desktop = try SharedDesktop(apart: .hostFirst)
            defer { desktop.stop() }
            let path = desktop.folder.file("s.sock")
            var last = try desktop.expectCurrentPicture("before")

            for (what, bytes, words) in Self.endings {
                let errors = desktop.host.occurrences(of: words)
                let socket = try TestSocket(path: path)
                try socket.send(bytes)
                let answer = try socket.readToEnd(what)
                try desktop.host.waitForLog(words, count: errors + 1)
                #expect(Self.endNotice(in: answer) != nil, "\(what): it is told why")
            }
            var random = SeededRandom(seed: 20_261_120)
            for _ in 0..<20 {
                var bytes = (0..<Int.random(in: 1...4000, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                // It must not be the beginning of a message by chance.
                bytes[0] |= 1
                let socket = try TestSocket(path: path)
                try socket.send(bytes)
                try socket.readToEnd("random bytes")
            }
            try desktop.host.waitForLog("not a capture link", count: 21)
            let next = try desktop.expectCurrentPicture("after")
            #expect(next > last)
            last = next

            // The message is cut in the middle. This is only reported, since the peer may just have died.
            var socket: TestSocket? = try TestSocket(path: path)
            try socket?.send(Array(Self.hello.dropLast(5)))
            socket = nil
            try desktop.host.waitForLog("the connection ended inside the message at byte 0")
            #expect(try desktop.expectCurrentPicture("after a cut message") > last)
            #expect(desktop.host.occurrences(of: "capture is gone") == 0)
        }

        @Test("that only stays silent keeps nobody out")
        func silence() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("s.sock")
            let host = try RunningProgram("screenrelay", ["host", "--link", "unix:" + path] + LinkSocket.hostOptions)
            let link = try host.printedLink()
            var silent: [TestSocket] = []
            for _ in 0..<40 {
                // The listener's queue is shorter than this.
                silent.append(try eventually("room for a connection") { try? TestSocket(path: path) })
            }
            try host.waitForLog("too many unidentified connections (32); closed the oldest")

            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let capture = try RunningProgram(
                "screenrelay", ["capture", "--link", "unix:" + path, "--display", screen.name])
            defer { capture.stop() }
            try host.waitForLog(LinkBetweenPrograms.cameTogether)
            #expect(try LinkSnapshot(of: link).picture.width == 320)
            #expect(silent.count == 40)
        }

        @Test("that uses up the host's descriptors costs it one line and no work, and captures get in after that")
        func descriptors() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("s.sock")
            let host = try RunningProgram("screenrelay", ["host", "--link", "unix:" + path] + LinkSocket.hostOptions)
            _ = try host.printedLink()
            let process = host.child.processID
            // Allow ten more descriptors than it has open; five connections stay in the listener's queue.
            let limit = try openDescriptors(of: process) + 10
            let limiting = try ChildProcess.run(
                Launch("prlimit", ["--pid", "\(process)", "--nofile=\(limit)"]), within: .seconds(10))
            try #require(limiting.status == .exited(0))
            var sockets = try (0..<15).map { _ in try TestSocket(path: path) }
            let words = "new connections have to wait"
            try host.waitForLog(words)
            let before = try processorTicks(of: process)
            _ = try? eventually("some time", within: .milliseconds(1500), holds: { false })
            #expect(host.occurrences(of: words) == 1, "\(host.log)")
            // A command of another test, which looks for hosts, may come to its control socket meanwhile.
            #expect(host.occurrences(of: "link: accept4") == 1, "\(host.log)")
            #expect(try processorTicks(of: process) - before < 20)

            sockets.removeAll()
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let capture = try RunningProgram(
                "screenrelay", ["capture", "--link", "unix:" + path, "--display", screen.name])
            defer { capture.stop() }
            try host.waitForLog(LinkBetweenPrograms.cameTogether)
        }

        @Test("from the source itself is an error too: NAL units that can't be used are counted and left out")
        func source() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("s.sock")
            let host = try RunningProgram("screenrelay", ["host", "--link", "unix:" + path] + LinkSocket.hostOptions)
            let link = try host.printedLink()
            var sender: TestSocket? = try TestSocket(path: path)
            try sender?.send(Self.hello)
            try host.waitForLog("link: capture broken")
            // An SPS that ends in its first field, an unspecified type, the forbidden bit, and empty slices.
            for unit: [UInt8] in [
                [0x67], [0x67, 0x42], [0x1F, 1, 2], [0xE5, 1, 2], [0x65, 0x88], [0x41, 0x9A, 0x00],
            ] {
                let payload = [0, 0, 0, 1] + unit
                let header = try Self.encoder.unitHeader(
                    payloadCount: payload.count, captureTime: now(), endsFrame: true)
                try sender?.send(header + payload)
            }
            let words = " units could not be used"
            try host.waitForLog(words)
            // However many they are, there is one line a second at most.
            let begin = now()
            let payload: [UInt8] = [0, 0, 0, 1, 0x1F, 1, 2]
            let header = try Self.encoder.unitHeader(
                payloadCount: payload.count, captureTime: now(), endsFrame: true)
            for _ in 0..<500 { try sender?.send(header + payload) }
            try host.waitForLog("in all)", count: 2)
            #expect(host.occurrences(of: words) <= 2 + Int((now() - begin).milliseconds / 1000))
            try sender?.send([0xFF])
            try sender?.readToEnd("a byte that is no message")
            try host.waitForLog("link: capture is gone: not a capture link")
            sender = nil

            // Now there is room for the next one.
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let capture = try RunningProgram(
                "screenrelay", ["capture", "--link", "unix:" + path, "--display", screen.name])
            defer { capture.stop() }
            #expect(
                try eventually("a picture") { try? LinkSnapshot(of: link).picture.width } == 320)
        }

        @Test("that asks the decoder for gigabytes in 170 kB is refused by name, and costs the host 16 MiB at most")
        func decoderMemory() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("s.sock")
            let host = try RunningProgram("screenrelay", ["host", "--link", "unix:" + path] + LinkSocket.hostOptions)
            _ = try host.printedLink()
            let sender = try TestSocket(path: path)
            try sender.send(Self.hello)
            try host.waitForLog("link: capture broken")
            func send(_ units: [[UInt8]]) throws {
                for (index, unit) in units.enumerated() {
                    let header = try Self.encoder.unitHeader(
                        payloadCount: 4 + unit.count, captureTime: now(), endsFrame: index == units.count - 1)
                    try sender.send(header + [0, 0, 0, 1] + unit)
                }
            }
            // This allocates what the decoder needs for any stream.
            var small = SkippedPictures(columns: 20, rows: 15, references: 1)
            try send([small.sequenceParameterSet(), small.pictureParameterSet(), small.idrSlice()])
            let before = try ProcessFigures(host.child.processID)

            var bomb = SkippedPictures(columns: 512, rows: 270, references: 16)
            var sent = 0
            for round in 0..<17 {
                let units =
                    round == 0
                    ? [bomb.sequenceParameterSet(), bomb.pictureParameterSet(), bomb.idrSlice()] : [bomb.skippedSlice()]
                sent += units.reduce(0) { $0 + $1.count }
                try send(units)
            }
            #expect(sent < 170_000)
            try host.waitForLog(
                "17 pictures of 8192x4320, which the stream has its decoder keep, take 860 MiB; the limit is 320")
            // The next stream is decoded, and so were all before it.
            try send([small.sequenceParameterSet(), small.pictureParameterSet(), small.idrSlice()])
            let process = host.child.processID
            var ticks = try processorTicks(of: process)
            try eventually("a host that rests") { () throws -> Void? in
                _ = try? eventually("some time", within: .milliseconds(300), holds: { false })
                let now = try processorTicks(of: process)
                defer { ticks = now }
                return now - ticks < 3 ? () : nil
            }
            let after = try ProcessFigures(process)
            #expect(after.peak - before.peak <= 16 << 10, "\(before), then \(after)")
        }

        private static let encoder = MessageEncoder(epoch: 7)
        private static let hello = encoder.encode(
            .hello(Hello(role: .capture, name: "broken", processID: 1, makesKeyFrames: true)))

        /// What ends a connection at once, and what the log says about it.
        private static let endings: [(String, [UInt8], String)] = [
            ("a length of 2^63", header(kind: 0, length: 1 << 63), "announces a unit of 9223372036854775808 bytes"),
            (
                "a length of all ones", header(kind: 0, length: .max),
                "announces a unit of 18446744073709551615 bytes"
            ),
            ("a long control message", header(kind: 1, length: 1 << 20), "announces 1048576 bytes; the limit is 65536"),
            ("a NAL unit cut short", header(kind: 0, length: 3) + [0, 0, 0], "announces a unit of 3 bytes"),
            ("no start code", header(kind: 0, length: 6) + [1, 2, 3, 4, 5, 6], "does not begin with 00 00 00 01"),
            (
                "a hello cut short", header(kind: 1, length: 4) + [1, 0, 1, 1],
                "the hello message at byte 0 can't be read"
            ),
            ("HTTP", Array("GET / HTTP/1.1\r\n\r\n".utf8), "byte 0 is 0x47 where a message should begin with 0x26"),
        ]

        /// Makes a header in the extended form.
        private static func header(kind: UInt8, length: UInt64) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 40)
            bytes[0] = 0x26
            bytes[1] = kind
            for index in 0..<8 { bytes[8 + index] = UInt8(truncatingIfNeeded: length >> UInt64(8 * index)) }
            bytes[32] = 7
            return bytes
        }

        /// The end message among what the host has sent.
        private static func endNotice(in bytes: [UInt8]) -> EndNotice? {
            var decoder = MessageDecoder()
            decoder.push(bytes[...])
            while let message = try? decoder.next() {
                if case .end(let notice) = message.body { return notice }
            }
            return nil
        }
    }
}
