import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// `screenrelay view`, which watches without a browser.
    @Suite("view", .enabled(if: EndToEnd.isPossible))
    struct ViewTests {
        private static let command = ["view", "--no-window", "--stats", "json"]
        private static let size = PictureSize(width: 320, height: 240)

        @Test("an invite link: frames of the shared size, their delay, and a session that the host sees end")
        func room() throws {
            let desktop = try SharedDesktop(size: Self.size)
            defer { desktop.stop() }
            let viewer = try RunningProgram("screenrelay", Self.command + [desktop.link])
            let second = try waitForPictures(viewer, withDelay: true)
            #expect(second["state"].string == "playing")
            #expect(second["width"].int == 320 && second["height"].int == 240)
            #expect((second["bitRate"].int ?? 0) > 1000 && second["lostPackets"].int == 0)
            // A busy machine may be slow, but no delay is negative or of another clock.
            #expect((0..<5000).contains(second["delay"].number ?? -1))
            viewer.child.terminate(SIGTERM)
            #expect(viewer.child.wait(within: .seconds(30)) == .exited(0))
            #expect(!viewer.log.contains(desktop.link))
            // The host may see DTLS end before it receives the HTTP request.
            try eventually("the end of the session in the host's log") {
                desktop.host.log.contains("a player left") || desktop.host.log.contains("a player's session ended")
            }
        }

        @Test("a room's password can be a part of its link, and a missing or wrong one is reported")
        func password() throws {
            let folder = try TemporaryFolder()
            let file = try folder.write("password", Array("sesame\n".utf8))
            let desktop = try SharedDesktop(options: ["--password-file", file], size: Self.size)
            defer { desktop.stop() }
            for link in [desktop.link, desktop.link + ",barley"] {
                let run = try CommandLineRun(["screenrelay"] + Self.command + ["--seconds", "60", link])
                #expect(run.status == .exited(77) && run.errorLine?.contains("password") == true, "\(run.errorOutput)")
                #expect(!run.errorOutput.contains("barley"))
            }
            try waitForPictures(RunningProgram("screenrelay", Self.command + [desktop.link + ",sesame"]))
        }

        @Test(
            "lost packets are retransmitted",
            .disabled(if: LossyNetwork.obstacle != nil, "no network of our own: \(LossyNetwork.obstacle ?? "")"))
        func loss() throws {
            let network = try LossyNetwork(losingFrom: LossyNetwork.mediaPort)
            let desktop = try SharedDesktop(
                scene: ["--fps", "60"], options: ["--fps", "60", "--udp-port", "\(LossyNetwork.mediaPort)"],
                inside: network)
            defer { desktop.stop() }
            let viewer = try RunningProgram("screenrelay", Self.command + [desktop.link], prefix: network.prefix)
            try eventually("lost datagrams", holds: { try network.lostDatagrams() >= 10 })
            try waitForPictures(viewer, after: viewedSeconds(in: viewer.output).count)
            let givenUp = viewedSeconds(in: viewer.output).reduce(0) { $0 + ($1["lostPackets"].int ?? 0) }
            let lost = try network.lostDatagrams()
            #expect(givenUp < lost / 2, "\(givenUp) of \(lost) packets")
        }

        /// A share with a tone, and another server of sound that viewers play on.
        private final class Listening {
            let desktop: SharedDesktop
            let folder: TemporaryFolder
            private let shared: PulseServer
            private let heard: PulseServer
            private let screen: VirtualScreen
            private var player: ChildProcess?

            static var isPossible: Bool { PulseServer.isAvailable && builtProgram("screenrelay-sound") != nil }

            init(_ options: [String] = []) throws {
                folder = try TemporaryFolder()
                shared = try PulseServer(in: TemporaryFolder())
                heard = try PulseServer(in: folder)
                desktop = try SharedDesktop(
                    options: ["--sound", "desktop"] + options, size: ViewTests.size,
                    prefix: ["env", "PULSE_SERVER=\(shared.address)"])
                screen = try VirtualScreen(ViewTests.size)
                try restartTone()
            }

            deinit {
                desktop.stop()
                screen.close()
            }

            /// Plays the shared tone for another minute.
            func restartTone() throws {
                player?.stop(within: .zero)
                player = try shared.playTone()
            }

            func view(_ words: String...) throws -> RunningProgram {
                try RunningProgram(
                    "screenrelay", ["view", "--display", screen.name, "--stats", "json"] + words,
                    prefix: ["env", "PULSE_SERVER=\(heard.address)"])
            }

            /// The amplitude of the tone that viewers play in the next half second.
            func amplitude() throws -> Double { try ToneFit(440, in: heard.recorded()).amplitude }
        }

        @Test(
            "the sound is played and recorded, and not played with --mute", .timeLimit(.minutes(5)),
            .enabled(if: Listening.isPossible))
        func sound() throws {
            let listening = try Listening()
            let link = listening.desktop.link
            let muted = try listening.view("--mute", link)
            try waitForPictures(muted)
            #expect(try listening.amplitude() < 0.01)
            muted.stop()
            let file = listening.folder.file("seen.srr")
            let viewer = try listening.view("--record", file, link)
            try eventually("the tone", holds: { try listening.amplitude() > 0.3 })
            #expect(viewer.stop() == .exited(0))
            let summary = try CommandLineRun(["screenrelay", "inspect", "--summary", file])
            #expect(summary.output.contains(" packets with "), "\(summary.output)")
        }

        @Test(
            "the sound of an RTSP stream and of a recording is played", .timeLimit(.minutes(5)),
            .enabled(if: Listening.isPossible))
        func soundOfOtherPlaces() throws {
            let listening = try Listening(["--rtsp", "0"])
            let stream = try listening.view(try rtspAddress(of: listening.desktop))
            try eventually("the stream's tone", holds: { try listening.amplitude() > 0.2 })
            #expect(stream.stop() == .exited(0))
            try eventually("silence", holds: { try listening.amplitude() < 0.01 })

            try listening.restartTone()
            let file = listening.folder.file("seen.srr")
            let words = ["screenrelay"] + Self.command + ["--seconds", "8", "--record", file, listening.desktop.link]
            let recorded = try CommandLineRun(words)
            #expect(recorded.status == .exited(0), "\(recorded.errorOutput)")
            var played = try listening.view(file)
            try eventually(
                "the recording's tone",
                holds: {
                    // A slow machine may need another try.
                    if played.child.poll() != nil { played = try listening.view(file) }
                    return try listening.amplitude() > 0.2
                })
        }

        /// The address of the shared screen over RTSP, as the host prints it.
        private func rtspAddress(of desktop: SharedDesktop) throws -> String {
            let line = try eventually("the RTSP address") {
                desktop.host.output.split(separator: "\n").first { $0.contains("rtsp://") }
            }
            return try #require(line.split(separator: " ").last).description
        }

        @Test("a recording can be viewed, inspected and exported")
        func recording() throws {
            let desktop = try SharedDesktop(size: Self.size)
            defer { desktop.stop() }
            let file = desktop.folder.file("seen.srr")
            let words = ["screenrelay"] + Self.command
            let recorded = try CommandLineRun(words + ["--seconds", "5", "--record", file, desktop.link])
            #expect(recorded.status == .exited(0), "\(recorded.errorOutput)")
            #expect(try CommandLineRun(["screenrelay", "inspect", "--summary", file]).status == .exited(0))
            let exported = desktop.folder.file("seen.mkv")
            let export = try CommandLineRun(["screenrelay", "export", file, "-o", exported])
            #expect(export.status == .exited(0), "\(export.errorOutput)")
            let played = try CommandLineRun(words + [file])
            #expect(played.status == .exited(0), "\(played.errorOutput)")
            let second = try #require(viewedSeconds(in: played.output).first { ($0["pictures"].number ?? 0) >= 1 })
            #expect(second["width"].int == 320 && second["height"].int == 240 && second["delay"].isNull)
            let again = try CommandLineRun(words + ["--seconds", "1", "--record", file, desktop.link])
            #expect(again.status == .exited(73) && again.errorLine?.contains("--record") == true)
        }

        @Test("an RTSP URL, and the address of a WHEP endpoint")
        func addresses() throws {
            let desktop = try SharedDesktop(options: ["--rtsp", "0"], size: Self.size)
            defer { desktop.stop() }
            let url = try rtspAddress(of: desktop)
            let second = try waitForPictures(RunningProgram("screenrelay", Self.command + [url]))
            #expect(second["width"].int == 320 && second["height"].int == 240 && second["delay"].isNull)
            let refused = try CommandLineRun(["screenrelay"] + Self.command + [url.replacing("@", with: "x@")])
            #expect(refused.status == .exited(77), "\(refused.errorOutput)")
            #expect(refused.errorLine?.contains("401") == true, "\(refused.errorOutput)")
            let token = try #require(desktop.link.split(separator: ",").last)
            let endpoint = desktop.link.replacing("#screen,\(token)", with: "whep/screen")
                .replacing("://", with: "://\(token)@")
            try waitForPictures(RunningProgram("screenrelay", Self.command + [endpoint]))
        }

        @Test("without --stats, a viewer without a window reports as text; without a frame in time, it exits with 69")
        func reports() throws {
            let desktop = try SharedDesktop(size: Self.size)
            defer { desktop.stop() }
            let file = try desktop.folder.write("link", Array(desktop.link.utf8))
            let viewer = try RunningProgram("screenrelay", ["view", "--no-window", "@" + file])
            try eventually(
                "a line of figures",
                holds: {
                    let lines = viewer.output.split(separator: "\n")
                    return lines.contains { $0.contains(" fps, ") && $0.hasSuffix("320x240") }
                })
            // This server never answers.
            let server = try RawServer()
            let url = "rtsp://127.0.0.1:\(server.port)/screen"
            let run = try CommandLineRun(["screenrelay"] + Self.command + ["--seconds", "1", url])
            #expect(run.status == .exited(69) && run.errorLine?.contains("no picture") == true, "\(run.errorOutput)")
            withExtendedLifetime(server) {}
        }

        @Test("a wrong token, an unknown room and a host that isn't running are reported in one line")
        func refusals() throws {
            let desktop = try SharedDesktop(size: Self.size)
            defer { desktop.stop() }
            let nobody = "http://127.0.0.1:\(try freePort())/#screen,Sesam"
            for (link, code, words) in [
                (desktop.link + "x", 77, "refuses the token (401)"),
                (desktop.link.replacing("#screen,", with: "#nowhere,"), 77, "refuses the token (401)"),
                (nobody, 69, "screenrelay: "),
            ] as [(String, Int32, String)] {
                let run = try CommandLineRun(["screenrelay"] + Self.command + ["--seconds", "60", link])
                #expect(run.status == .exited(code), "\(run.errorOutput)")
                #expect(run.errorLine?.contains(words) == true, "\(run.errorOutput)")
                let token = try #require(link.split(separator: ",").last)
                #expect(!run.errorOutput.contains(token))
            }
            let none = desktop.folder.file("none.srr")
            let file = try CommandLineRun(["screenrelay"] + Self.command + [none])
            #expect(file.status == .exited(66))
            // The same with a window, before its display is opened.
            for (link, code) in [(none, 66), (desktop.link + "x", 77), (nobody, 69)] as [(String, Int32)] {
                let run = try CommandLineRun(["screenrelay", "view", "--display", ":9999", link])
                #expect(run.status == .exited(code), "\(run.errorOutput)")
                #expect(run.errorLine?.contains("X server") == false, "\(run.errorOutput)")
            }
            let run = try CommandLineRun(["screenrelay", "view", "--display", ":9999", desktop.link])
            #expect(run.status == .exited(69) && run.errorLine?.contains("no X server at :9999") == true)
            let words = ["screenrelay", "view", desktop.link]
            let unnamed = try CommandLineRun(words, environment: ["WAYLAND_DISPLAY": ""])
            #expect(unnamed.status == .exited(69))
            let both = "no Wayland compositor at WAYLAND_DISPLAY and no X server at DISPLAY"
            #expect(unnamed.errorLine?.contains(both) == true, "\(unnamed.errorOutput)")
        }

        @Test("a viewer reconnects to a host that is killed and restarted", .timeLimit(.minutes(5)))
        func hostKilled() throws {
            let folder = try TemporaryFolder()
            let desktop = try SharedDesktop(
                apart: .hostFirst,
                hostOptions: ["--listen", "127.0.0.1:\(try freePort())", "--token-file", folder.file("token")])
            defer { desktop.stop() }
            let viewer = try RunningProgram("screenrelay", Self.command + [desktop.link])
            try waitForPictures(viewer)
            desktop.host.child.terminate(SIGKILL)
            #expect(desktop.host.child.wait(within: .seconds(30)) == .signaled(SIGKILL))
            try viewer.waitForLog("trying again")
            try eventually(
                "the state", holds: { viewedSeconds(in: viewer.output).contains { $0["state"].string == "waiting" } })
            let count = viewedSeconds(in: viewer.output).count
            try desktop.restartHost()
            try waitForPictures(viewer, after: count, withDelay: true)
        }
    }
}
