import BrowserDriver
import Glibc
import MediaTypes
import Processes
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    @Suite("Snapshots that nobody reads", .enabled(if: EndToEnd.hasBrowser))
    struct UnreadSnapshotTests {
        /// How much a host may grow because of what clients don't read, in KiB.
        private static let growth = 64 << 10
        private static let rounds = 16
        private static let connectionsInRound = 16

        @Test("take little of the host's memory, harm no viewer, and give it back")
        func unread() throws {
            let screen = try VirtualScreen(PictureSize(width: 1920, height: 1080))
            let noise = try NoiseDrawing(on: screen, seed: 12)
            noise.draw()
            let host = try RunningProgram(
                "screenrelay", ["share", "--display", screen.name, "--fps", "10"] + LinkSocket.hostOptions)
            let link = try host.printedLink()
            let room = try #require(RoomLink(link))
            let viewer = try ViewerPage(link, in: try Browser.shared())
            try viewer.waitUntilPlaying()
            // The same pictures with snapshots that are read, so that what they allocate for good is there: above all
            // the packets that are kept for retransmission, up to 12 MB of them.
            let folder = try TemporaryFolder()
            for _ in 0..<Self.rounds {
                noise.draw()
                let run = try CommandLineRun(["screenrelay", "snapshot", link, "-o", folder.file("s.png")])
                #expect(run.status == .exited(0))
            }
            // What the host takes for good while it happens, such as the encoder of the low layer where the machine is
            // too busy for the viewer, it takes once; what it keeps for snapshots would be there again each time.
            var figures: String?
            for _ in 0..<3 where figures == nil {
                figures = try memory(of: host, while: { noise.draw() }, in: room, viewer)
            }
            let found = try #require(figures, "the host doesn't give memory back")
            let last = try CommandLineRun(["screenrelay", "snapshot", link, "-o", folder.file("t.png")])
            #expect(last.status == .exited(0))
            print("\(Self.rounds * Self.connectionsInRound) unread snapshots: \(found)")
        }

        /// Has clients ask for snapshots that they don't read, while `change` changes the picture, and leave. Returns
        /// the host's memory before, at most and after that; nil if too much of it doesn't come back.
        private func memory(
            of host: RunningProgram, while change: () -> Void, in room: RoomLink, _ viewer: ViewerPage
        ) throws -> String? {
            func resident() throws -> Int { try ProcessFigures(host.child.processID).resident }
            let before = try resident()
            var most = before
            var sockets: [TestSocket] = []
            for _ in 0..<Self.rounds {
                // Each picture is different, as in a film.
                change()
                for _ in 0..<Self.connectionsInRound {
                    let socket = try TestSocket(port: room.port)
                    var size: Int32 = 4096
                    setsockopt(
                        socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
                    try socket.send(
                        "GET /snapshot.png HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(room.token)\r\n\r\n")
                    sockets.append(socket)
                }
                // The last of them has an answer, whatever it says, so the others have theirs.
                try eventually("an answer") { sockets.last?.isSilent == false }
                most = max(most, try resident())
            }
            #expect(most - before <= Self.growth, "\(before) KiB became \(most)")
            // Pictures go on.
            let decoded = try eventually("a count of pictures") { try viewer.statistic("framesDecoded") }
            try eventually("more pictures for the viewer") {
                change()
                return try viewer.statistic("framesDecoded").map { $0 >= decoded + 5 } ?? false
            }
            sockets = []
            do {
                return try eventually("the memory to come back", within: .seconds(20)) {
                    let after = try resident()
                    return after - before <= Self.growth / 4
                        ? "\(before) KiB before, \(most) at most, \(after) after" : nil
                }
            } catch is DeadlineMissed {
                return nil
            }
        }
    }
}
