import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Host and capture by an encrypted link", .enabled(if: EndToEnd.isPossible))
    struct EncryptedLink {
        private let folder: TemporaryFolder
        private let token: [String]
        private let other: [String]

        init() throws {
            folder = try TemporaryFolder()
            for name in ["token", "other"] {
                try folder.write(name, Array("a token for \(name), of some length\n".utf8))
            }
            token = ["--capture-key", folder.file("token")]
            other = ["--capture-key", folder.file("other")]
        }

        @Test("pictures come, whatever strangers send, and the status says how far away capture is")
        func together() throws {
            let host = try NetworkHost(token, scheme: "tls", listen: "0.0.0.0")
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            let capture = try RunningProgram(
                "screenrelay", ["capture", "--link", "tls:localhost:\(host.port)", "--display", screen.name] + token)
            defer { capture.stop() }
            try host.program.waitForLog(LinkBetweenPrograms.cameTogether)
            #expect(try LinkSnapshot(of: host.link).picture.width == 320)
            try host.program.waitForLog("there and back, its clock is ours")
            for bytes in [[UInt8](repeating: 0x26, count: 4000), Array("GET / HTTP/1.1\r\n\r\n".utf8), [0x16, 3, 1]] {
                let stranger = try TestSocket(port: host.port)
                try stranger.send(bytes)
                if bytes.count > 3 { try stranger.readToEnd("what is no handshake") }
            }
            try host.program.waitForLog("127.0.0.1 is refused: it doesn't encrypt its link")
            try host.program.waitForLog("127.0.0.1 is refused: it has not proved that it has the capture key")
            let status = try CommandLineRun(["screenrelay", "status", "--pid", "\(host.program.child.processID)"])
            #expect(status.output.contains("live; hosting tls:0.0.0.0:\(host.port) to the room screen"))
            #expect(status.output.contains(" ms there and back, clock "))
            #expect(host.program.occurrences(of: "capture is gone") == 0)

            // A capture finds a host again that went away and came back at the same port.
            #expect(host.program.stop() == .exited(0))
            let next = try RunningProgram(
                "screenrelay", ["host", "--link", host.address] + token + LinkSocket.hostOptions)
            defer { next.stop() }
            _ = try next.printedLink()
            try next.waitForLog(LinkBetweenPrograms.cameTogether)
        }

        @Test("a capture with another token, or none, or of a host that differs in encryption, ends with one line")
        func wrongToken() throws {
            let host = try NetworkHost(token, scheme: "tls")
            let plain = try NetworkHost(token)
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            for (address, options, code, words) in [
                (host.address, other, Int32(77), "the host there doesn't have the same --capture-key file"),
                (host.address, [], 64, "host and capture need the same --capture-key FILE"),
                ("tls:127.0.0.1:\(plain.port)", token, 77, "the host there doesn't encrypt its link"),
                ("tcp:127.0.0.1:\(host.port)", token, 77, "the host there encrypts its link: use tls:"),
                ("tcp:127.0.0.1:\(host.port)", [], 77, "the host there encrypts its link: use tls:"),
            ] {
                let run = try CommandLineRun(
                    ["screenrelay-capture", "--link", address, "--display", screen.name] + options)
                #expect(run.status == .exited(code))
                #expect(run.errorLine?.contains("--link \(address): \(words)") ?? run.errorOutput.contains(words))
            }
            #expect(host.program.occurrences(of: "link: capture") == 0)
            // A wrong token isn't tried twice.
            let refusal = "127.0.0.1 is refused: it has not proved that it has the capture key"
            try host.program.waitForLog(refusal)
            #expect(host.program.occurrences(of: refusal) == 1)
            try host.program.waitForLog("127.0.0.1 is a capture, it was started with tcp:, and this host with tls:")
            try plain.program.waitForLog("127.0.0.1 encrypts its link: it was started with tls:")
            // A replay is told the same.
            let replay = try CommandLineRun(
                ["screenrelay", "replay", "--link", "tcp:127.0.0.1:\(host.port)", TestStreams.small.path] + token)
            #expect(replay.status == .exited(77))
            #expect(replay.errorOutput.contains("the host there encrypts its link: use tls:"), "\(replay.errorOutput)")
        }

        @Test("somebody on the wire sees no picture of a replay, as without encryption", arguments: ["tls", "tcp"])
        func observed(scheme: String) throws {
            let host = try NetworkHost(token + ["--record", folder.file("r.srr")], scheme: scheme)
            let tap = try WireTap(to: host.port)
            let stream = try TestStreams.small.bytes()
            let replay = try RunningProgram(
                "screenrelay",
                ["replay", "--link", "\(scheme):127.0.0.1:\(tap.port)", "--speed", "max", TestStreams.small.path]
                    + token)
            defer { replay.stop() }
            let status = try eventually("the replay's end") { () throws -> ProcessStatus? in
                try tap.pump()
                return replay.child.poll()
            }
            #expect(status == .exited(0), "\(replay.log)")
            try eventually("the rest") {
                try tap.pump()
                return host.program.log.contains("capture is gone")
            }
            #expect(host.program.stop() == .exited(0))
            // All of it has arrived, byte for byte.
            #expect(try RecordedConnection.all(of: folder.file("r.srr")).last?.annexB == stream)
            #expect(tap.seen.count > stream.count)
            // The SPS, which is the first unit, with its start code.
            let parameters = Array(stream.prefix(12))
            #expect(stream[4] & 31 == 7)
            #expect(tap.seen.contains(inside: parameters) == (scheme == "tcp"))
        }
    }
}
