import CaptureLink
import MediaTypes
import TestSupport
import Testing

@testable import CaptureEngine

/// Where viewers point, on the captured screen itself.
extension CaptureAgentTests {
    @Test("a dot that moves over a still screen costs no picture, and there is none while viewers see a notice")
    func pointing() throws {
        let screen = try VirtualScreen(PictureSize(width: 320, height: 240))
        let client = try DisplayClient(screen.name)
        client.background(0x808080)
        let (capture, host) = try RunningCapture.pair(display: screen.name)
        func notices() -> [PictureNotice] {
            host.messages.compactMap { if case .picture(let notice) = $0.body { notice } else { nil } }
        }
        func point(_ x: Double) throws {
            let place = ViewerPoint.Place(fractions: x, 0.5)
            try host.send(.pointing(ViewerPoint(viewer: 1, name: "Cid", place: place)))
        }
        try host.sendHello()
        try host.wait(for: "a picture") { host.picture != nil }
        try host.waitForSilence()
        let before = notices().count
        for step in 1...20 {
            try point(Double(step) / 25)
            try host.wait(for: "the dot") { client.color(at: (step * 320 / 25, 120)) == 0xF9_06CC }
        }
        try host.wait(for: "its end") { client.color(at: (256, 120)) == 0x808080 }
        // A change that isn't the dot's is in a picture, so all that came before has been sent.
        client.fill(PixelRectangle(x: 0, y: 0, width: 16, height: 16), color: 0)
        try host.wait(for: "the change") { notices().dropFirst(before).contains { !$0.damage.isEmpty } }
        let damages = notices().dropFirst(before).map(\.damage).filter { !$0.isEmpty }
        #expect(damages == [PixelRectangle(x: 0, y: 0, width: 16, height: 16)])

        try host.send(.sharerPaused(true))
        try host.wait(for: "the notice") { host.messages.contains { $0.body == .sharing(.paused) } }
        try point(0.5)
        try host.send(.sharerPaused(false))
        try host.wait(for: "the screen") { host.messages.contains { $0.body == .sharing(.live) } }
        #expect(client.color(at: (160, 120)) == 0x808080)
        try point(0.25)
        try host.wait(for: "the dot") { client.color(at: (80, 120)) == 0xF9_06CC }
        #expect(client.color(at: (160, 120)) == 0x808080)
        capture.stop()
    }
}
