import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEndBesideBrowser {
    @Suite("A hidden window", .enabled(if: EndToEnd.isPossible && Desktop.isAvailable && FFmpeg.isAvailable))
    struct CaptureHiddenTests {
        private static let size = PictureSize(width: 640, height: 480)
        /// As many windows on each desktop; `Tools/soak hidden` makes it more.
        private static let windows = Survival.count("SCREENRELAY_HIDDEN", default: 4)

        @Test(
            "is in no frame and in no snapshot while it is minimised, moved, killed or has a dialog, under any compositor",
            arguments: Desktop.Kind.allCases)
        func operations(kind: Desktop.Kind) throws {
            let shown = try record(kind, windows: 4, options: [])
            // What isn't hidden is seen, or this would prove nothing.
            #expect(shown.redness > 180 && shown.snapshotsWithSecret > 0)
            let hidden = try record(kind, windows: Self.windows, options: ["--hide", "secret"])
            #expect(hidden.redness <= 140)
            #expect(hidden.snapshotsWithSecret == 0)
            print(
                "\(kind): \(Self.windows) windows hidden, \(hidden.frames) frames and \(hidden.snapshots) snapshots:",
                "\(hidden.redness <= 140 ? 0 : 1) with a pixel of them (V at most \(hidden.redness), magenta",
                "\(shown.redness))")
        }

        private struct Recorded {
            var frames = 0
            /// The highest value of V in any frame. Grey has 128, magenta over 200.
            var redness = 0
            var snapshots = 0
            var snapshotsWithSecret = 0
        }

        /// Records a share while windows come and go, and measures each frame.
        private func record(_ kind: Desktop.Kind, windows: Int, options: [String]) throws -> Recorded {
            let folder = try TemporaryFolder()
            let desktop = try Desktop(kind, size: Self.size)
            let file = folder.file("hidden.srr")
            let share = try RunningProgram(
                "screenrelay",
                ["share", "--display", desktop.screen.name, "--record", file] + LinkSocket.hostOptions + options)
            let link = try share.printedLink()
            var result = Recorded()
            for step in 0..<windows {
                try use(desktop, step) {
                    func look() throws -> Bool {
                        let showsSecret = Self.hasMagenta(try LinkSnapshot(of: link).picture)
                        result.snapshots += 1
                        if showsSecret { result.snapshotsWithSecret += 1 }
                        return showsSecret
                    }
                    // A busy machine captures what isn't hidden some time after it is on the screen.
                    if options.isEmpty {
                        try eventually("a snapshot of the window", holds: look)
                    } else {
                        _ = try look()
                    }
                }
            }
            #expect(share.stop() == .exited(0))
            let exported = folder.file("hidden.mkv")
            let export = try CommandLineRun(["screenrelay", "export", "-o", exported, file])
            try #require(export.status == .exited(0), "\(export.errorOutput) \(share.log)")
            let key = "lavfi.signalstats.VMAX"
            let measured = try FFmpeg.run(
                [
                    "-i", exported, "-fps_mode", "passthrough", "-vf",
                    "signalstats,metadata=mode=print:key=\(key):file=-", "-f", "null", "-",
                ], within: .seconds(600))
            for line in String(decoding: measured.bytes, as: UTF8.self).split(separator: "\n") {
                guard line.hasPrefix(key), let value = line.split(separator: "=").last.flatMap({ Int($0) }) else {
                    continue
                }
                result.frames += 1
                result.redness = max(result.redness, value)
            }
            #expect(result.frames > windows)
            return result
        }

        private static func hasMagenta(_ picture: ScenePicture) -> Bool {
            stride(from: 0, to: picture.bytes.count - 2, by: picture.bytesPerPixel).contains { index in
                let (red, green, blue) = (picture.bytes[index], picture.bytes[index + 1], picture.bytes[index + 2])
                return Int(red) > Int(green) + 60 && Int(blue) > Int(green) + 60
            }
        }

        /// Shows a secret window, does something with it, and lets its program end. `look` is called while it shows.
        private func use(_ desktop: Desktop, _ step: Int, look: () throws -> Void) throws {
            var program: DisplayClient? = try DisplayClient(desktop.screen.name)
            let place = PixelRectangle(x: 40 + step * 37 % 300, y: 40 + step * 23 % 200, width: 200, height: 150)
            let window = try #require(program?.window(place, color: 0xFF00FF, title: "secret"))
            try eventually("the window on the screen") { desktop.showsMagenta }
            switch step % 4 {
            case 0:
                desktop.minimise(window)
                try eventually("the minimised window gone from the screen") { !desktop.showsMagenta }
            case 1: for move in 0..<5 { program?.move(window, to: 400 - move * 60, 30 + move * 40) }
            case 2:
                let dialog = try #require(
                    program?.window(
                        PixelRectangle(x: 10, y: 300, width: 120, height: 80), color: 0xFF00FF, isMapped: false))
                program?.numbers(dialog, "WM_TRANSIENT_FOR", [window])
                program?.map(dialog)
                program?.destroy(dialog)
            default: try look()
            }
            // Its connection ends as that of a program that was killed does.
            program = nil
            try eventually("the window gone from the screen") { !desktop.showsMagenta }
        }
    }
}
