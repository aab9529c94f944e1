import Clocks
public import MediaTypes
import Synchronization

/// A value that one thread provides and another thread waits for.
public final class OneShot<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let wake: EventFD

    /// Creates a box without a value; nil if the process has no file descriptor left.
    public init?() {
        guard let wake = EventFD() else { return nil }
        self.wake = wake
    }

    /// A file descriptor for `poll`; it becomes readable when the value is given.
    public var descriptor: Int32 { wake.descriptor }

    /// The value; nil until it was given.
    public var given: Value? { value.withLock { $0 } }

    /// Gives the value, and wakes the thread that waits for it.
    public func give(_ value: Value) {
        self.value.withLock { $0 = value }
        wake.signal()
    }

    /// Blocks until the value is given; nil if it hasn't been given by `deadline`. One thread at a time may wait.
    public func wait(until deadline: MonotonicTime) -> Value? {
        while true {
            if let given { return given }
            if deadline <= .now() { return nil }
            wake.wait(until: deadline)
        }
    }
}

/// A Boolean that threads share. It begins as false.
public final class Flag: Sendable {
    private let value = Atomic(false)

    /// Creates a flag that isn't set.
    public init() {}

    /// Whether the flag is set.
    public var isSet: Bool { value.load(ordering: .acquiring) }

    /// Sets the flag, or clears it. Returns whether it was set before.
    @discardableResult
    public func set(_ newValue: Bool = true) -> Bool {
        value.exchange(newValue, ordering: .acquiringAndReleasing)
    }
}

/// Carries a value that isn't thread-safe to another thread, which owns it from then on.
///
/// The `Sendable` conformance is unchecked: it is the sender's promise to use the value no more.
public struct Sent<Value>: @unchecked Sendable {
    /// The value, which only the thread that owns it may use.
    public var value: Value

    /// Hands `value` over: nobody else may use it any more.
    public init(_ value: Value) {
        self.value = value
    }
}
