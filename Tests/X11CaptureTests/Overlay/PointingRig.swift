import CaptureEngine
import MediaTypes
import TestScene
import TestSupport

@testable import X11Capture

/// A capture whose pictures have the screen's size, and a program beside it.
final class PointingRig {
    let capture: ScreenCapture
    let client: DisplayClient

    /// The name of all who point.
    static let viewer = "Cid"
    /// The colour of their dots.
    static let color = PointingDrawing.dotColor(of: viewer)

    init(_ display: String) throws {
        client = try DisplayClient(display)
        capture = try ScreenCapture(display: display, drawsPointer: false)
    }

    /// Has a viewer point at a place, in fractions of the screen.
    func point(_ x: Double, _ y: Double, viewer: UInt32 = 1, path: [(Double, Double)?] = []) {
        capture.showPoint(
            ViewerPoint(
                viewer: viewer, name: Self.viewer, place: ViewerPoint.Place(fractions: x, y),
                path: path.map { $0.flatMap { ViewerPoint.Place(fractions: $0.0, $0.1) } }),
            in: TestScreen.size, content: TestScreen.all)
    }

    /// Lets the capture do what is due until `condition` holds.
    func wait(for what: String, _ condition: () throws -> Bool) throws {
        try eventually(
            what,
            holds: {
                _ = try capture.readEvents()
                return try condition()
            })
    }

    /// What the screen shows at a place, in fractions of it.
    func color(at x: Double, _ y: Double) -> UInt32? {
        client.color(at: (Int(x * Double(TestScreen.size.width)), Int(y * Double(TestScreen.size.height))))
    }
}
