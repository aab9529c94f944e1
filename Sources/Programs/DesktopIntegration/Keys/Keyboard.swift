import CXCB
import Glibc
import MediaTypes

/// The mapping of an X server's keyboard at one time.
struct Keyboard {
    private let first: UInt8
    /// How many keysyms there are for each code.
    private let levels: Int
    private let symbols: [UInt32]
    /// The codes of the keys of each modifier, Shift first.
    private let modifierCodes: [[UInt8]]

    /// Asks the server, and waits for its answer. Nil if there is none until `deadline`, or if the connection has
    /// ended.
    init?(_ connection: OpaquePointer, until deadline: MonotonicTime) {
        guard let setup = xcb_get_setup(connection) else { return nil }
        first = setup.pointee.min_keycode
        let count = setup.pointee.max_keycode &- first &+ 1
        let mapping = xcb_get_keyboard_mapping(connection, first, count)
        let modifiers = xcb_get_modifier_mapping(connection)
        guard
            let reply = serverReply(
                of: xcb_get_keyboard_mapping_reply_t.self, to: mapping.sequence, on: connection, until: deadline)
        else { return nil }
        defer { free(reply) }
        levels = Int(reply.pointee.keysyms_per_keycode)
        symbols = Array(
            UnsafeBufferPointer(
                start: xcb_get_keyboard_mapping_keysyms(reply),
                count: Int(xcb_get_keyboard_mapping_keysyms_length(reply))))
        guard
            let rows = serverReply(
                of: xcb_get_modifier_mapping_reply_t.self, to: modifiers.sequence, on: connection, until: deadline)
        else { return nil }
        defer { free(rows) }
        let width = Int(rows.pointee.keycodes_per_modifier)
        let codes = UnsafeBufferPointer(
            start: xcb_get_modifier_mapping_keycodes(rows),
            count: Int(xcb_get_modifier_mapping_keycodes_length(rows)))
        modifierCodes = (0..<8).map { row in codes.dropFirst(row * width).prefix(width).filter { $0 != 0 } }
    }

    /// The code of the key with this keysym. The first levels win: there is the layout that the user types with.
    func code(of symbol: UInt32) -> UInt8? {
        guard levels > 0 else { return nil }
        for level in 0..<levels {
            for (index, start) in stride(from: 0, to: symbols.count, by: levels).enumerated()
            where start + level < symbols.count && symbols[start + level] == symbol {
                return UInt8(exactly: Int(first) + index)
            }
        }
        return nil
    }

    /// The modifiers that stay on until a key is pressed again: Caps Lock, and those of Num Lock and Scroll Lock.
    var locks: [UInt16] {
        var locks: [UInt16] = [UInt16(XCB_MOD_MASK_LOCK.rawValue)]
        // XK_Num_Lock and XK_Scroll_Lock.
        for code in [0xFF7F, 0xFF14].compactMap({ code(of: $0) }) {
            for (bit, codes) in modifierCodes.enumerated() where codes.contains(code) { locks.append(1 << bit) }
        }
        return locks
    }
}
