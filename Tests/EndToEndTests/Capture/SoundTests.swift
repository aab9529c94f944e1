import BrowserDriver
import CaptureLink
import Foundation
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    @Suite("The sound of a share", .enabled(if: EndToEnd.isPossible && builtProgram("screenrelay-sound") != nil))
    struct SoundTests {
        private func status(of host: RunningProgram) throws -> JSONValue {
            let run = try CommandLineRun(["screenrelay", "status", "--json", "--pid", "\(host.child.processID)"])
            return try JSONDecoder().decode(JSONValue.self, from: Data(run.output.utf8))
        }

        private func steer(_ host: RunningProgram, _ words: String...) throws -> String {
            try CommandLineRun(["screenrelay"] + words + ["--pid", "\(host.child.processID)"]).output
        }

        @Test("without a sound server, the screen is shared all the same")
        func noServer() throws {
            let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
            defer { screen.close() }
            let share = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name, "--sound", "desktop"] + LinkSocket.hostOptions,
                prefix: ["env", "PULSE_SERVER=unix:/nowhere/native"])
            let link = try share.printedLink()
            try share.waitForLog("screenrelay-sound is process ")
            #expect(try LinkSnapshot(of: link).picture.width == 320)
            let status = try status(of: share)
            #expect(status["state"].string == "live" && status["muted"] == .bool(false))
            #expect(share.captureProcessIDs.count == 1)
            try share.waitForLog("so viewers would hear nothing; start one in this session")
            #expect(share.stop() == .exited(0))
            #expect(share.occurrences(of: "viewers would hear nothing") == 1)
        }

        @Test("that only a recording takes is live, and not idle")
        func recorded() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("s.sock")
            let host = try RunningProgram.host("unix:" + path, ["--record", folder.file("s.srr")])
            _ = try host.printedLink()
            let source = try TestSocket(path: path)
            let encoder = MessageEncoder(epoch: 9, stream: 1)
            let hello = Hello(role: .capture, name: "test", processID: 1, makesKeyFrames: true)
            try source.send(encoder.encode(.hello(hello)) + encoder.encode(.format(.opus)))
            try eventually("it is live") {
                try status(of: host)["tracks"][0]["sound"].string == "live"
            }
            source.close()
            #expect(host.stop() == .exited(0))
        }

        @Test(
            "mute and unmute reach the source and the viewers, and are in the status",
            .enabled(if: PythonClient.isAvailable))
        func mute() throws {
            let folder = try TemporaryFolder()
            let path = folder.file("s.sock")
            let host = try RunningProgram.host("unix:" + path)
            let guest = try PythonClient("guest", in: .rtc, [try host.printedLink(), "Ann"])
            _ = try guest.event("joined")
            func waitUntilTold(_ words: [String]) throws {
                try eventually("\(words) in \(guest.events) \(host.log)") { () throws -> Void? in
                    let told = guest.events.filter { $0["event"] as? String == "sound" }
                    return told.compactMap { $0["sound"] as? String } == words ? () : nil
                }
            }
            #expect(try status(of: host)["tracks"][0]["sound"].string == "none")

            let source = try TestSocket(path: path)
            let encoder = MessageEncoder(epoch: 9, stream: 1)
            let hello = Hello(role: .capture, name: "test", processID: 1, makesKeyFrames: true)
            try source.send(encoder.encode(.hello(hello)))
            try source.send(encoder.encode(.format(.opus)))
            try waitUntilTold(["live"])
            // Nobody's session takes it.
            #expect(try status(of: host)["tracks"][0]["sound"].string == "idle")

            #expect(try steer(host, "mute") == "muted\n")
            try waitUntilTold(["live", "muted"])
            var decoder = MessageDecoder()
            try eventually("the source is told") { () throws -> Void? in
                guard let bytes = source.receive(), !bytes.isEmpty else { return nil }
                decoder.push(bytes)
                while let message = try decoder.next() { if message.body == .sharerPaused(true) { return () } }
                return nil
            }
            let muted = try status(of: host)
            #expect(muted["muted"] == .bool(true) && muted["tracks"][0]["sound"].string == "muted")
            // The pictures are not held.
            #expect(muted["state"].string == "waiting")

            #expect(try steer(host, "unmute") == "unmuted\n")
            try waitUntilTold(["live", "muted", "live"])
            #expect(try status(of: host)["muted"] == .bool(false))

            // The microphone alone: viewers are told nothing, because the desktop may be heard as before.
            #expect(try steer(host, "mute", "mic") == "microphone muted\n")
            func isTold(_ socket: TestSocket, _ decoder: inout MessageDecoder) throws -> Void? {
                guard let bytes = socket.receive(), !bytes.isEmpty else { return nil }
                decoder.push(bytes)
                while let message = try decoder.next() { if message.body == .microphoneMuted(true) { return () } }
                return nil
            }
            try eventually("the source is told of the microphone") { try isTold(source, &decoder) }
            let quiet = try status(of: host)
            #expect(quiet["microphoneMuted"] == .bool(true) && quiet["muted"] == .bool(false))
            source.close()
            try waitUntilTold(["live", "muted", "live", "none"])
            let later = try TestSocket(path: path)
            try later.send(encoder.encode(.hello(hello)) + encoder.encode(.format(.opus)))
            var fresh = MessageDecoder()
            try eventually("a source that comes later is told") { try isTold(later, &fresh) }
            #expect(try steer(host, "unmute", "mic") == "microphone unmuted\n")
            #expect(try status(of: host)["microphoneMuted"] == .bool(false))
            later.close()
        }
    }
}
