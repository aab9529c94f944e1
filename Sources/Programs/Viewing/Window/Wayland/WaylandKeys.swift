import CWayland
import Glibc

/// The keys of a window, by the keymap that the compositor has sent. For one thread.
final class WaylandKeys {
    /// The active layout of the keyboard, from 0 on.
    var layout: UInt32 = 0
    private let context: OpaquePointer
    private let keymap: OpaquePointer

    /// The longest keymap that is read, in bytes. Usual ones have about 60,000.
    private static let maxSize = 4 << 20

    /// Reads a keymap in XKB's text format from the first `size` bytes of `file`. Nil if that isn't possible.
    init?(_ file: Int32, _ size: Int) {
        guard (1...Self.maxSize).contains(size) else { return nil }
        let text = Self.beginning(of: file, size)
        // A keymap from a compositor includes no other files.
        guard let context = xkb_context_new(XKB_CONTEXT_NO_DEFAULT_INCLUDES) else { return nil }
        // It ends with a zero, which isn't part of it.
        let length = text.firstIndex(of: 0) ?? text.count
        let keymap = xkb_keymap_new_from_buffer(
            context, text, length, XKB_KEYMAP_FORMAT_TEXT_V1, XKB_KEYMAP_COMPILE_NO_FLAGS)
        guard let keymap else {
            xkb_context_unref(context)
            return nil
        }
        self.context = context
        self.keymap = keymap
    }

    deinit {
        xkb_keymap_unref(keymap)
        xkb_context_unref(context)
    }

    /// The first `size` bytes of `file`, or fewer if it is shorter. They are read and not mapped: reading memory behind
    /// the end of a file ends the process (SIGBUS).
    private static func beginning(of file: Int32, _ size: Int) -> [CChar] {
        var bytes = [CChar](repeating: 0, count: size)
        var count = 0
        while count < size {
            let read = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress?.advanced(by: count), size - count, off_t(count))
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { break }
            count += read
        }
        return Array(bytes[..<count])
    }

    /// The action of the key with this evdev code, with or without Shift.
    func action(of code: UInt32) -> WindowAction? {
        // XKB's codes are those of X, which begin at 8.
        guard code < 0x1000 else { return nil }
        let symbols = (0..<2 as Range<UInt32>).flatMap { level -> [UInt32] in
            var first: UnsafePointer<xkb_keysym_t>?
            let count = xkb_keymap_key_get_syms_by_level(keymap, code + 8, layout, level, &first)
            return Array(UnsafeBufferPointer(start: first, count: max(0, Int(count))))
        }
        return WindowAction(symbols)
    }
}
