import CaptureLink
import Glibc
import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    /// A host that keeps changing its mind, and a display that ends.
    @Suite("Capture in turmoil", .enabled(if: EndToEnd.isPossible))
    struct CaptureTurmoilTests {
        private static let size = PictureSize(width: 640, height: 480)
        // This is on the scene's dark ground, where nothing else changes.
        private static let pointer = (x: 300, y: 9)

        private struct Desktop {
            let screen: VirtualScreen
            let scene: RunningProgram
            let client: DisplayClient
            let capture: LinkedCapture
        }

        /// Starts a scene that moves, a pointer that is a white dot, and the capture.
        private func start(_ options: [String]) throws -> Desktop {
            let screen = try VirtualScreen(Self.size)
            let scene = try RunningProgram("screenrelay-scene", ["--display", screen.name, "--scene", "patches"])
            try eventually("the scene") { scene.output.contains("ready") ? () : nil }
            let client = try DisplayClient(screen.name)
            client.showPointer(at: Self.pointer, glyph: 38)
            let capture = try LinkedCapture(screen, options)
            try capture.wait(for: "pictures") { capture.taken.count > 3 }
            return Desktop(screen: screen, scene: scene, client: client, capture: capture)
        }

        private func isPointerSeen(_ capture: LinkedCapture) throws -> Bool? {
            try capture.color(Self.pointer.x, Self.pointer.y).map { $0.green > 160 }
        }

        @Test("50 changes of chroma in a second: each picture decodes, and the last one asked for is what comes")
        func chroma() throws {
            let desktop = try start(["--chroma", "444,420"])
            let capture = desktop.capture
            let first = capture.taken.count
            func changes() -> Int { capture.taken[first...].count { $0.isIDR } }
            // Fifty requests, or more if a busy machine has skipped most of them.
            var round = 0
            try eventually("ten changes", within: .seconds(120)) {
                try capture.send(.chroma(round % 2 == 0 ? .yuv420 : .yuv444))
                try capture.read(for: .milliseconds(20))
                round += 1
                return round >= 50 && changes() >= 10
            }
            for format in [ChromaFormat.yuv444, .yuv420] {
                try capture.send(.chroma(format))
                let profile: UInt8 = format == .yuv444 ? 244 : 66
                try capture.wait(for: "\(format)") {
                    let profiles = capture.taken.compactMap(\.profile)
                    return format == .yuv444 ? profiles.last == profile : profiles.last.map { $0 != 244 } == true
                }
                let count = capture.taken.count
                try capture.wait(for: "more pictures") { capture.taken.count > count + 5 }
            }
            #expect(try capture.picture()?.counter != nil)
            #expect(capture.program.stop() == .exited(0))
        }

        @Test("50 changes of the pointer's way in a second: each picture says truly whether it has the pointer")
        func pointerMode() throws {
            let desktop = try start([])
            let capture = desktop.capture
            var seen: [Bool: Int] = [:]
            capture.onPicture = { capture in
                guard let picture = capture.taken.last else { return }
                let isSeen = try isPointerSeen(capture)
                #expect(isSeen == picture.notice.isPointerDrawn, "picture \(picture.notice.sequenceNumber)")
                seen[picture.notice.isPointerDrawn, default: 0] += 1
            }
            for round in 0..<50 {
                try capture.send(.pointerMode(round % 2 == 0 ? .apart : .drawn))
                try capture.read(for: .milliseconds(20))
            }
            for mode in [PointerMode.apart, .drawn] {
                try capture.send(.pointerMode(mode))
                try capture.wait(for: "\(mode)") { capture.taken.last?.notice.isPointerDrawn == (mode == .drawn) }
                let count = capture.taken.count
                try capture.wait(for: "more pictures") { capture.taken.count > count + 5 }
                #expect(capture.taken.last?.notice.isPointerDrawn == (mode == .drawn))
            }
            #expect(seen.values.allSatisfy { $0 >= 6 } && seen.count == 2, "\(seen)")
        }

        @Test("50 holds and releases in a second: what comes is a slate or the screen, and at last what was asked for")
        func hold() throws {
            let desktop = try start([])
            let capture = desktop.capture
            capture.onPicture = { capture in
                // While held, nothing of the scene is shown: its counter is never seen.
                let counter = try capture.picture()?.counter
                #expect((counter == nil) == (capture.sharing == .paused), "picture \(capture.taken.count)")
            }
            for round in 0..<50 {
                try capture.send(.sharerPaused(round % 2 == 0))
                if round % 7 == 0 { try capture.send(.requestKeyFrame) }
                try capture.read(for: .milliseconds(20))
            }
            try capture.send(.sharerPaused(true))
            try capture.wait(for: "the slate") { try capture.sharing == .paused && capture.showsSlate() }
            try capture.send(.sharerPaused(false))
            try capture.wait(for: "the screen") { try capture.sharing == .live && capture.picture()?.counter != nil }
            let count = capture.taken.count
            try capture.wait(for: "more pictures") { capture.taken.count > count + 5 }
        }

        @Test("all of it at once, with changes of size between")
        func everything() throws {
            let desktop = try start(["--chroma", "444,420", "--pause-when-locked"])
            let (screen, client, capture) = (desktop.screen, desktop.client, desktop.capture)
            desktop.scene.stop()
            var random = SeededRandom(seed: 3)
            for _ in 0..<60 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: try capture.send(.chroma(.yuv420))
                case 1: try capture.send(.chroma(.yuv444))
                case 2: try capture.send(.pointerMode(Bool.random(using: &random) ? .apart : .drawn))
                case 3: try capture.send(.sharerPaused(Bool.random(using: &random)))
                case 4: try capture.send(Bool.random(using: &random) ? .unwatched : .watched)
                case 5: client.saveScreen(Bool.random(using: &random))
                case 6: try screen.resize(to: PictureSize(width: .random(in: 90...640, using: &random), height: 301))
                default: try capture.send(.requestKeyFrame)
                }
                client.fill(PixelRectangle(x: 0, y: 0, width: 640, height: 480), color: .random(in: 0...0xFFFFFF))
                try capture.read(for: .milliseconds(10))
            }
            client.saveScreen(false)
            try screen.resize(to: PictureSize(width: 401, height: 303))
            for message in [LinkMessage.sharerPaused(false), .watched, .chroma(.yuv420), .pointerMode(.drawn)] {
                try capture.send(message)
            }
            client.fill(PixelRectangle(x: 0, y: 0, width: 640, height: 480), color: 0x00FF00)
            try capture.wait(for: SceneColor(0, 255, 0), at: 20, 20, "the final screen")
            #expect(capture.pictureSize == PictureSize(width: 402, height: 304))
            #expect(capture.sharing == .live)
            #expect(capture.program.stop() == .exited(0))
        }

        @Test("an X server that dies ends capture with 69 and a line that says so")
        func serverDies() throws {
            let desktop = try start([])
            let (screen, capture) = (desktop.screen, desktop.capture)
            screen.close()
            try capture.wait(for: "the end") { capture.end != nil }
            #expect(capture.end?.reason == .displayLost)
            #expect(capture.program.child.wait(within: .seconds(30)) == .exited(69))
            capture.program.child.errorOutput?.waitForEnd(within: .seconds(2))
            let line = capture.program.log.split(separator: "\n").last ?? ""
            #expect(line.contains("--display \(screen.name): display '\(screen.name)' has ended the connection"))
        }
    }
}
