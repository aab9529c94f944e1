import MediaTypes
import Processes
import TestScene
import TestSupport
import Testing

extension EndToEnd {
    /// The window of `screenrelay view`.
    @Suite("view in a window", .enabled(if: EndToEnd.isPossible))
    struct ViewWindowTests {
        private static let size = PictureSize(width: 320, height: 240)

        @Test(
            "the window shows the shared screen, if necessary fitted to a smaller one; closing it exits with 0",
            arguments: [1, 2])
        func window(division: Int) throws {
            let desktop = try SharedDesktop()
            defer { desktop.stop() }
            let size = PictureSize(width: 640 / division, height: 480 / division)
            let other = try VirtualScreen(size)
            defer { other.close() }
            let isNamed = division == 1
            let viewer = try RunningProgram(
                "screenrelay", ["view"] + (isNamed ? ["--display", other.name] : []) + [desktop.link],
                prefix: isNamed ? [] : ["env", "WAYLAND_DISPLAY=/nowhere/wayland-0", "DISPLAY=\(other.name)"])
            let client = try DisplayClient(other.name)
            let picture = try eventually("the patches in the window") { () -> ScenePicture? in
                if let status = viewer.child.poll() { throw ProgramEnded(status: status, log: viewer.log) }
                return patches(on: client, size)
            }
            expectPatches(in: picture, "the window")
            #expect(viewer.output.isEmpty)
            client.close(client.topWindow(at: (x: size.width / 2, y: size.height / 2)))
            #expect(viewer.child.wait(within: .seconds(30)) == .exited(0))
        }

        @Test("an X server that ends is the reason of exit code 69")
        func lost() throws {
            let desktop = try SharedDesktop()
            defer { desktop.stop() }
            let other = try VirtualScreen(Self.size)
            let viewer = try RunningProgram(
                "screenrelay", ["view", "--display", other.name, "--stats", "text", desktop.link])
            try eventually("a frame", holds: { viewer.output.contains(" fps, ") })
            other.close()
            #expect(viewer.child.wait(within: .seconds(30)) == .exited(69))
            viewer.child.errorOutput?.waitForEnd(within: .seconds(2))
            #expect(viewer.log.contains("the connection to the X server was lost"), "\(viewer.log)")
        }

        /// The screen's content, if it is the whole scene, at any scale.
        private func patches(on client: DisplayClient, _ size: PictureSize) -> ScenePicture? {
            let seen = client.pixels(of: size).flatMap {
                ScenePicture(bytes: $0, width: size.width, height: size.height, bytesPerPixel: 4)
            }
            guard let seen, let first = PatchScene.color(ofPatch: 0, in: seen) else { return nil }
            let drawn = PatchScene.patches[0].color
            let parts = [(first.red, drawn.red), (first.green, drawn.green), (first.blue, drawn.blue)]
            return parts.allSatisfy { abs(Int($0.0) - Int($0.1)) <= 8 } ? seen : nil
        }

        @Test("the window shows the pointer of the shared screen, and figures are reported as text")
        func pointer() throws {
            let desktop = try SharedDesktop(scene: ["--still"])
            defer { desktop.stop() }
            let size = PictureSize(width: 640, height: 480)
            let other = try VirtualScreen(size)
            defer { other.close() }
            let viewer = try RunningProgram(
                "screenrelay", ["view", "--display", other.name, "--stats", "text", desktop.link])
            let client = try DisplayClient(other.name)
            try eventually("the scene", holds: { patches(on: client, size) != nil })
            // The green values where the pointer, a white dot, will be, and next to it on the dark background.
            func greens() -> (dot: UInt8, ground: UInt8)? {
                guard let seen = client.pixels(of: size), seen.count == size.width * size.height * 4 else { return nil }
                return (seen[(9 * size.width + 300) * 4 + 1], seen[(9 * size.width + 340) * 4 + 1])
            }
            #expect((greens()?.dot ?? 255) < 100)
            let pointer = try DisplayClient(desktop.screen.name)
            pointer.showPointer(at: (300, 9), glyph: 38)
            try eventually("the pointer", holds: { greens().map { $0.dot > 160 && $0.ground < 100 } ?? false })
            try eventually("a line of figures", holds: { viewer.output.contains(" fps, ") })
            #expect(viewer.child.poll() == nil)
            withExtendedLifetime(pointer) {}
        }

        @Test("f toggles full screen, and Escape leaves it", .enabled(if: Desktop.isAvailable))
        func fullScreen() throws {
            let shared = try SharedDesktop(size: Self.size)
            defer { shared.stop() }
            let desktop = try Desktop(.openbox, size: PictureSize(width: 640, height: 480))
            defer { desktop.screen.close() }
            let viewer = try RunningProgram("screenrelay", ["view", "--display", desktop.screen.name, shared.link])
            let client = try DisplayClient(desktop.screen.name)
            func fills() -> Bool { client.topWindow(at: (x: 639, y: 479)) != 0 }
            // Openbox puts the first window at the top left or in the middle.
            try eventually("the window", holds: { client.topWindow(at: (x: 310, y: 230)) != 0 })
            #expect(!fills())
            // The window may not have the keyboard yet.
            try eventually(
                "the whole screen",
                holds: {
                    client.type(key: 41)
                    return (try? eventually("the corner", within: .seconds(2), holds: { fills() })) != nil
                })
            client.type(key: 9)
            try eventually("the corner without the window", holds: { !fills() })
            #expect(viewer.child.poll() == nil)
        }

        @Test("1 shows the video in its own size, and w, 0 and 1 fit it into the window again")
        func keys() throws {
            let desktop = try SharedDesktop()
            defer { desktop.stop() }
            let screen = try VirtualScreen(Self.size)
            defer { screen.close() }
            let viewer = try RunningProgram("screenrelay", ["view", "--display", screen.name, desktop.link])
            let client = try DisplayClient(screen.name)
            // Without a window manager, keys go to the window under the pointer.
            client.warp(to: (x: 160, y: 120))
            try eventually("all of the scene", holds: { patches(on: client, Self.size) != nil })
            // The scene's pixel 164, 124 is in its green patch.
            let corner = (4 * Self.size.width + 4) * 4
            // On the server's keyboard, 10 is the key 1, 19 is 0, and 25 is w.
            for key: UInt8 in [25, 19, 10] {
                client.type(key: 10)
                try eventually(
                    "only its middle",
                    holds: {
                        guard let seen = client.pixels(of: Self.size), seen.count > corner + 2 else { return false }
                        return seen[corner] < 16 && seen[corner + 1] > 240 && seen[corner + 2] < 16
                    })
                client.type(key: key)
                try eventually("all of the scene after \(key)", holds: { patches(on: client, Self.size) != nil })
            }
            #expect(viewer.child.poll() == nil)
        }
    }
}
