import CSystemBus
import Glibc
package import MediaTypes

/// What a connection to the bus tells its owner, during `process`.
package protocol BusListener: AnyObject {
    /// The answer to a call has come, or its error.
    func replied(_ message: BusMessage)
    /// A signal has come that was listened to. Any program on the bus may have sent it.
    func signalled(_ message: BusMessage)
    /// A method of an object that is served is called; any program on the bus may do that. Returns whether it was
    /// answered; if not, the caller gets an error.
    func called(_ message: BusMessage) -> Bool
}

extension BusListener {
    /// Nothing is answered by default.
    package func called(_ message: BusMessage) -> Bool { false }
}

/// A connection to the user's bus. Nothing here waits: the owner polls `fileDescriptor`, and calls `process` when it is
/// ready or `deadline` has passed. Not thread-safe.
package final class BusConnection {
    /// Who is told what arrives.
    package weak var listener: (any BusListener)?
    /// Why there is no connection, an errno; 0 if there is one.
    package let failure: Int32
    private var bus: OpaquePointer?

    /// Connects to the bus at `address`; nil for the user's bus, as `DBUS_SESSION_BUS_ADDRESS` names it.
    package init(address: String?) {
        var opened: OpaquePointer?
        var result: Int32
        if let address {
            result = sd_bus_new(&opened)
            if result >= 0 { result = sd_bus_set_address(opened, address) }
            if result >= 0 { result = sd_bus_set_bus_client(opened, 1) }
            if result >= 0 { result = sd_bus_start(opened) }
        } else {
            result = sd_bus_open_user(&opened)
        }
        failure = result < 0 ? -result : 0
        if result < 0 {
            sd_bus_unref(opened)
            opened = nil
        }
        bus = opened
    }

    deinit { close() }

    /// Ends the connection. Idempotent; not allowed while the listener is called.
    package func close() {
        guard let bus else { return }
        self.bus = nil
        // Unlike a flush, closing never waits.
        sd_bus_close(bus)
        sd_bus_unref(bus)
    }

    /// Whether the bus hasn't ended the connection.
    package var isOpen: Bool { bus.map { sd_bus_is_open($0) > 0 } ?? false }

    /// The descriptor to poll for `events`; -1 if there is nothing to wait for.
    package var fileDescriptor: Int32 { bus.map { max(-1, sd_bus_get_fd($0)) } ?? -1 }

    /// The events to poll `fileDescriptor` for.
    package var events: Int32 { bus.map { max(0, sd_bus_get_events($0)) } ?? 0 }

    /// The time at which `process` has something to do even if nothing arrives: while an answer is awaited.
    package var deadline: MonotonicTime {
        var microseconds = UInt64.max
        guard let bus, sd_bus_get_timeout(bus, &microseconds) >= 0, microseconds < UInt64(Int64.max) / 1000 else {
            return .distantFuture
        }
        return MonotonicTime(nanoseconds: Int64(microseconds) * 1000)
    }

    /// Reads what has arrived, and writes what is to be sent. Returns false if the connection has ended.
    package func process() -> Bool {
        // What remains after these makes `deadline` pass at once.
        for _ in 0..<100 {
            let result = sd_bus_process(bus, nil)
            if result < 0 { return false }
            if result == 0 { break }
        }
        return isOpen
    }

    /// Has signals reported that match this rule. Takes effect before any later call is answered.
    package func listen(to rule: String) {
        sd_bus_add_match_async(
            bus, nil, rule,
            { message, context, _ in
                guard let message, let connection = BusConnection.of(context) else { return 0 }
                connection.listener?.signalled(BusMessage(pointer: message))
                return 0
            }, nil, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Calls a method; the answer is reported, or an error after 25 s, the usual limit of the bus. Returns 0, or an
    /// errno if the call can't be made.
    package func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]
    ) -> Int32 {
        var message: OpaquePointer?
        var result = sd_bus_message_new_method_call(bus, &message, destination, path, interface, member)
        defer { sd_bus_message_unref(message) }
        for argument in arguments where result >= 0 { result = Self.append(argument, to: message) }
        return result < 0 ? -result : send(message)
    }

    /// Calls a method with the arguments that `write` appends; the answer is reported as for other calls. The bus may
    /// start a program that isn't running. Returns 0, or an errno if the call can't be made.
    package func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String,
        _ write: (inout BusWriter) -> Void
    ) -> Int32 {
        var message: OpaquePointer?
        var result = sd_bus_message_new_method_call(bus, &message, destination, path, interface, member)
        defer { sd_bus_message_unref(message) }
        if result >= 0 { result = BusWriter.result(of: write, on: message) }
        return result < 0 ? -result : send(message)
    }

    /// Calls a method of a program that runs, without asking for an answer. If the program doesn't run, does nothing.
    package func tell(
        _ destination: String, _ path: String, _ interface: String, _ member: String,
        _ write: (inout BusWriter) -> Void
    ) {
        var message: OpaquePointer?
        var result = sd_bus_message_new_method_call(bus, &message, destination, path, interface, member)
        defer { sd_bus_message_unref(message) }
        if result >= 0 { result = sd_bus_message_set_auto_start(message, 0) }
        if result >= 0 { result = sd_bus_message_set_expect_reply(message, 0) }
        if result >= 0 { result = BusWriter.result(of: write, on: message) }
        if result >= 0 { sd_bus_send(bus, message, nil) }
    }

    /// Answers calls of the object at `path` through the listener.
    package func serve(_ path: String) {
        sd_bus_add_object(
            bus, nil, path,
            { message, context, _ in
                guard let message, let connection = BusConnection.of(context) else { return 0 }
                return connection.listener?.called(BusMessage(pointer: message)) == true ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Sends a signal of the object at `path`, with the values that `write` appends.
    package func emit(
        _ path: String, _ interface: String, _ member: String, _ write: (inout BusWriter) -> Void = { _ in }
    ) {
        var message: OpaquePointer?
        guard sd_bus_message_new_signal(bus, &message, path, interface, member) >= 0 else { return }
        defer { sd_bus_message_unref(message) }
        if BusWriter.result(of: write, on: message) >= 0 { sd_bus_send(bus, message, nil) }
    }

    /// The name that the bus has given this connection; nil until something has arrived. Doesn't wait.
    package var uniqueName: String? {
        var name: UnsafePointer<CChar>?
        guard let bus, sd_bus_is_ready(bus) > 0, sd_bus_get_unique_name(bus, &name) >= 0, let name else { return nil }
        return String(cString: name)
    }

    private func send(_ message: OpaquePointer?) -> Int32 {
        let result = sd_bus_call_async(
            bus, nil, message,
            { message, context, _ in
                guard let message, let connection = BusConnection.of(context) else { return 0 }
                connection.listener?.replied(BusMessage(pointer: message))
                return 0
            }, Unmanaged.passUnretained(self).toOpaque(), 0)
        return result < 0 ? -result : 0
    }

    /// Appends a value of the types that calls have.
    private static func append(_ value: BusValue, to message: OpaquePointer?) -> Int32 {
        switch value {
        case .boolean(let flag):
            var number: Int32 = flag ? 1 : 0
            return sd_bus_message_append_basic(message, BusMessage.type("b"), &number)
        case .unsigned(var number):
            return sd_bus_message_append_basic(message, BusMessage.type("u"), &number)
        case .string(let text):
            return text.withCString { sd_bus_message_append_basic(message, BusMessage.type("s"), $0) }
        case .path(let text):
            return text.withCString { sd_bus_message_append_basic(message, BusMessage.type("o"), $0) }
        case .dictionary(let entries):
            var result = sd_bus_message_open_container(message, BusMessage.type("a"), "{sv}")
            for (key, value) in entries where result >= 0 { result = append(key, value, to: message) }
            return result < 0 ? result : sd_bus_message_close_container(message)
        case .signed, .structure, .array, .other:
            return -EINVAL
        }
    }

    private static func append(_ key: String, _ value: BusValue, to message: OpaquePointer?) -> Int32 {
        let contents: String
        switch value {
        case .boolean: contents = "b"
        case .unsigned: contents = "u"
        case .string: contents = "s"
        default: return -EINVAL
        }
        var result = sd_bus_message_open_container(message, BusMessage.type("e"), "sv")
        if result >= 0 { result = append(.string(key), to: message) }
        if result >= 0 { result = sd_bus_message_open_container(message, BusMessage.type("v"), contents) }
        if result >= 0 { result = append(value, to: message) }
        if result >= 0 { result = sd_bus_message_close_container(message) }
        return result < 0 ? result : sd_bus_message_close_container(message)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> BusConnection? {
        context.map { Unmanaged<BusConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}
