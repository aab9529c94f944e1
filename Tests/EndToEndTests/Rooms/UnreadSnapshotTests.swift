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
            let viewer = try ViewerPage(link, in: try Browser.launch())
            try viewer.waitUntilPlaying()
            // The same pictures with snapshots that are read, so that what they allocate for good is there: above all
            // the packets that are kept for retransmission, up to 12 MB of them.
            let folder = try TemporaryFolder()
            for _ in 0..<Self.rounds {
                noise.draw()
                let run = try CommandLineRun(["screenrelay", "snapshot", link, "-o", folder.file("s.png")])
                #expect(run.status == .exited(0))
            }
            let before = try ProcessFigures(host.child.processID)
            var most = before.resident
            var sockets: [RawSocket] = []
            for _ in 0..<Self.rounds {
                // Each picture is different, as in a film.
                noise.draw()
                for _ in 0..<Self.connectionsInRound {
                    let socket = try RawSocket.connected(to: room.port, .tcp)
                    var size: Int32 = 4096
                    setsockopt(
                        socket.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
                    try socket.send(
                        "GET /snapshot.png HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(room.token)\r\n\r\n")
                    sockets.append(socket)
                }
                // The last of them has an answer, whatever it says, so the others have theirs.
                try eventually("an answer") { sockets.last?.isSilent == false }
                most = max(most, try ProcessFigures(host.child.processID).resident)
            }
            #expect(most - before.resident <= Self.growth, "\(before.resident) KiB became \(most)")
            // Pictures go on.
            let decoded = try eventually("a count of pictures") { try viewer.statistic("framesDecoded") }
            try eventually("more pictures for the viewer") {
                noise.draw()
                return try viewer.statistic("framesDecoded").map { $0 >= decoded + 5 } ?? false
            }
            sockets = []
            try eventually("the memory to come back") {
                try ProcessFigures(host.child.processID).resident - before.resident <= Self.growth / 4
            }
            let last = try CommandLineRun(["screenrelay", "snapshot", link, "-o", folder.file("t.png")])
            #expect(last.status == .exited(0))
            print(
                "\(Self.rounds * Self.connectionsInRound) unread snapshots: \(before.resident) KiB before, \(most) at most, "
                    + "\(try ProcessFigures(host.child.processID).resident) after")
        }
    }
}
