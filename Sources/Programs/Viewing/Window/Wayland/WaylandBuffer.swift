import CWayland
import Glibc
import MediaTypes

/// An image of a Wayland window, in memory that the compositor shares. For one thread.
final class WaylandBuffer {
    /// Whether the compositor doesn't read it, so that it can be drawn.
    var isFree = true
    private var pixels: WindowPixels
    private let byteCount: Int
    private var object: WaylandObject?

    /// Creates an image, whose sides are 1 to 16,384 pixels; `memory` is the compositor's wl_shm. Nil if there is no
    /// memory.
    init?(_ size: PictureSize, in memory: OpaquePointer) {
        let stride = size.width * 4
        byteCount = stride * size.height
        guard let (base, file) = mappedFile(of: byteCount) else { return nil }
        pixels = WindowPixels(size, at: base)
        defer { close(file) }
        guard let pool = wl_shm_create_pool(memory, file, Int32(clamping: byteCount)) else { return nil }
        defer { wl_shm_pool_destroy(pool) }
        let buffer = wl_shm_pool_create_buffer(
            pool, 0, Int32(clamping: size.width), Int32(clamping: size.height), Int32(clamping: stride),
            WL_SHM_FORMAT_XRGB8888.rawValue)
        object = WaylandObject(buffer, gone: wl_buffer_destroy) { [weak self] event in
            // wl_buffer.release
            if event.number == 0 { self?.isFree = true }
        }
        guard object != nil else { return nil }
    }

    deinit {
        object = nil
        // The compositor keeps its own mapping for as long as it shows the image.
        munmap(pixels.base, byteCount)
    }

    /// The wl_buffer.
    var pointer: OpaquePointer? { object?.pointer }

    /// Draws `picture` in the middle of black; nothing else if it is nil. Only if the image is free.
    func draw(_ picture: I420Picture?) { pixels.draw(picture) }
}
