import CXCB
import Glibc
import MediaTypes

/// Draws noise over a whole screen, which costs an encoder the most.
public final class NoiseDrawing {
    /// There is no display to draw on.
    public struct NoDisplay: Error {}

    private let connection: OpaquePointer
    private let root: xcb_window_t
    private let context: xcb_gcontext_t
    private let depth: UInt8
    private let size: PictureSize
    private var random: SeededRandom
    // The width and height of a cell of one colour, in pixels.
    private static let cell = 4

    /// Draws on the root window of `screen`, which has 32 bits a pixel.
    public init(on screen: VirtualScreen, seed: UInt64) throws {
        guard let connection = xcb_connect(screen.name, nil), let setup = xcb_get_setup(connection),
            let first = xcb_setup_roots_iterator(setup).data
        else { throw NoDisplay() }
        self.connection = connection
        root = first.pointee.root
        depth = first.pointee.root_depth
        context = xcb_generate_id(connection)
        size = screen.size
        random = SeededRandom(seed: seed)
        xcb_create_gc(connection, context, root, 0, nil)
    }

    deinit { xcb_disconnect(connection) }

    /// Draws different noise than before, and waits until it is there.
    public func draw() {
        for top in stride(from: 0, to: size.height, by: Self.cell) {
            let rows = min(Self.cell, size.height - top)
            let cells = (0...size.width / Self.cell).map { _ in UInt32.random(in: 0...0xFFFFFF, using: &random) }
            let row = (0..<size.width).map { cells[$0 / Self.cell] }
            let pixels = Array(repeating: row, count: rows).flatMap { $0 }
            pixels.withUnsafeBytes { bytes in
                _ = xcb_put_image(
                    connection, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), root, context, UInt16(size.width),
                    UInt16(rows), 0, Int16(top), 0, depth, UInt32(bytes.count),
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
            }
        }
        free(xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), nil))
    }
}
