import CWayland
import Glibc

/// The keys of a window, by the keymap that the compositor has sent. For one thread.
final class WaylandKeys {
    /// The active layout of the keyboard, from 0 on.
    var layout: UInt32 = 0
    private let context: OpaquePointer
    private let keymap: OpaquePointer

    /// Reads a keymap in XKB's text format from the first `size` bytes of `file`. Nil if that isn't possible.
    init?(_ file: Int32, _ size: Int) {
        guard size > 0, let text = mmap(nil, size, PROT_READ, MAP_PRIVATE, file, 0), text != MAP_FAILED else {
            return nil
        }
        defer { munmap(text, size) }
        // A keymap from a compositor includes no other files.
        guard let context = xkb_context_new(XKB_CONTEXT_NO_DEFAULT_INCLUDES) else { return nil }
        let bytes = text.assumingMemoryBound(to: CChar.self)
        // It ends with a zero, which isn't part of it.
        let keymap = xkb_keymap_new_from_buffer(
            context, bytes, strnlen(bytes, size), XKB_KEYMAP_FORMAT_TEXT_V1, XKB_KEYMAP_COMPILE_NO_FLAGS)
        guard let keymap else {
            xkb_context_unref(context)
            return nil
        }
        (self.context, self.keymap) = (context, keymap)
    }

    deinit {
        xkb_keymap_unref(keymap)
        xkb_context_unref(context)
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
