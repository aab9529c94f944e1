import CSystemBus
import Glibc

/// A message from the bus, during the call that hands it out.
package struct BusMessage {
    let pointer: OpaquePointer

    /// More values than any answer needs; the sender may be faulty.
    private static let mostValues = 2000

    /// The unique name of the sender.
    package var sender: String { Self.string(sd_bus_message_get_sender(pointer)) }
    /// The path of the object that sent the signal, or whose method is called.
    package var path: String { Self.string(sd_bus_message_get_path(pointer)) }
    /// The interface of the signal or the method.
    package var interface: String { Self.string(sd_bus_message_get_interface(pointer)) }
    /// The name of the signal or the method.
    package var member: String { Self.string(sd_bus_message_get_member(pointer)) }

    /// The name of the error that the message is; nil if it isn't one.
    package var errorName: String? {
        guard sd_bus_message_is_method_error(pointer, nil) > 0, let error = sd_bus_message_get_error(pointer) else {
            return nil
        }
        return Self.string(error.pointee.name)
    }

    /// Returns the values of the message; nil if they can't be read, or if there are too many. Call it once.
    package func values() -> [BusValue]? {
        var room = Self.mostValues
        return elements(&room)
    }

    /// Returns a new descriptor of the file that the message passes, which the caller has to close. If there is none,
    /// returns -1, with the reason in `errno`.
    package func descriptor() -> Int32 {
        var passed: Int32 = -1
        guard sd_bus_message_read_basic(pointer, Self.type("h"), &passed) > 0 else {
            errno = EBADMSG
            return -1
        }
        // The message closes its own.
        return fcntl(passed, F_DUPFD_CLOEXEC, 3)
    }

    /// Answers a call with the values that `write` appends, unless the caller wants no answer. If they can't be sent,
    /// for example because a text isn't allowed on the bus, the caller gets an error.
    package func reply(_ write: (inout BusWriter) -> Void = { _ in }) {
        guard sd_bus_message_get_expect_reply(pointer) > 0 else { return }
        var message: OpaquePointer?
        var result = sd_bus_message_new_method_return(pointer, &message)
        defer { sd_bus_message_unref(message) }
        if result >= 0 { result = BusWriter.result(of: write, on: message) }
        if result >= 0 { result = sd_bus_send(nil, message, nil) }
        if result < 0 { refuse(-result) }
    }

    /// Answers a call with an error, an errno: EINVAL is org.freedesktop.DBus.Error.InvalidArgs.
    package func refuse(_ code: Int32 = EINVAL) {
        sd_bus_reply_method_errno(pointer, code, nil)
    }

    /// A type of D-Bus, by its letter.
    static func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }

    private static func string(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }

    /// The values up to the end of the message, or of the container that was entered.
    private func elements(_ room: inout Int) -> [BusValue]? {
        var values: [BusValue] = []
        while true {
            var letter: CChar = 0
            var contents: UnsafePointer<CChar>?
            let found = sd_bus_message_peek_type(pointer, &letter, &contents)
            if found == 0 { return values }
            room -= 1
            guard found > 0, room >= 0, let value = element(letter, contents, &room) else { return nil }
            values.append(value)
        }
    }

    /// - Parameter contents: the types in a container; valid until the next type is looked at.
    private func element(_ letter: CChar, _ contents: UnsafePointer<CChar>?, _ room: inout Int) -> BusValue? {
        switch letter {
        case Self.type("b"):
            var value: Int32 = 0
            return sd_bus_message_read_basic(pointer, letter, &value) > 0 ? .boolean(value != 0) : nil
        case Self.type("i"):
            var value: Int32 = 0
            return sd_bus_message_read_basic(pointer, letter, &value) > 0 ? .signed(value) : nil
        case Self.type("u"):
            var value: UInt32 = 0
            return sd_bus_message_read_basic(pointer, letter, &value) > 0 ? .unsigned(value) : nil
        case Self.type("s"), Self.type("o"):
            var text: UnsafePointer<CChar>?
            guard sd_bus_message_read_basic(pointer, letter, &text) > 0 else { return nil }
            return letter == Self.type("s") ? .string(Self.string(text)) : .path(Self.string(text))
        case Self.type("v"):
            return contained(letter, contents, &room)?.first
        case Self.type("r"), Self.type("e"):
            return contained(letter, contents, &room).map { BusValue.structure($0) }
        case Self.type("a"):
            let isDictionary = contents?.pointee == Self.type("{")
            guard let elements = contained(letter, contents, &room) else { return nil }
            return isDictionary ? Self.dictionary(elements) : .array(elements)
        default:
            return sd_bus_message_skip(pointer, nil) >= 0 ? .other : nil
        }
    }

    private func contained(_ letter: CChar, _ contents: UnsafePointer<CChar>?, _ room: inout Int) -> [BusValue]? {
        guard sd_bus_message_enter_container(pointer, letter, contents) > 0, let values = elements(&room),
            sd_bus_message_exit_container(pointer) >= 0
        else { return nil }
        return values
    }

    /// Leaves out entries whose key isn't a string.
    private static func dictionary(_ elements: [BusValue]) -> BusValue {
        var entries: [String: BusValue] = [:]
        for case .structure(let entry) in elements {
            if case .string(let key)? = entry.first, let value = entry.last { entries[key] = value }
        }
        return .dictionary(entries)
    }
}
