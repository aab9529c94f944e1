import CPulse
import Clocks
import Glibc
import MediaTypes

/// The sinks and microphones of a PulseAudio server, for people.
public struct AudioDevices: Sendable, Equatable {
    /// A sink or a microphone.
    public struct Device: Sendable, Equatable {
        /// PulseAudio's name.
        public var name: String
        /// A description for people.
        public var description: String
        /// Whether it is the default.
        public var isDefault = false
        /// "running", "idle" or "suspended".
        public var state: String
        /// Whether it is muted.
        public var isMuted: Bool
    }

    /// What programs play on.
    public var sinks: [Device] = []
    /// What records, without the monitors of the sinks.
    public var microphones: [Device] = []

    /// Asks the server for its devices, and waits up to 5 s for the answer.
    ///
    /// - Parameter server: The server, or nil for the server that the environment names.
    /// - Throws: `noServer` if no server answers within that time, with libpulse's reason; `library` or `system` if a
    ///   call fails.
    public static func ofServer(_ server: String? = nil) throws(AudioError) -> AudioDevices {
        try DeviceInquiry(server).devices()
    }
}

/// One question to the server.
private final class DeviceInquiry {
    private let loop: PulseLoop
    private let context: OpaquePointer
    private var found = AudioDevices()
    private var defaults: (sink: String?, microphone: String?) = (nil, nil)
    private var hasAsked = false
    private var isOver = false

    private static let timeout = Interval.seconds(5)

    init(_ server: String?) throws(AudioError) {
        loop = try PulseLoop()
        guard let context = pa_context_new(loop.api, "ScreenRelay") else { throw .library(call: "pa_context_new") }
        self.context = context
        if pa_context_connect(context, server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 { throw failure }
    }

    deinit {
        pa_context_disconnect(context)
        pa_context_unref(context)
    }

    private var failure: AudioError {
        .noServer(reason: pa_strerror(pa_context_errno(context)).map { String(cString: $0) } ?? "no reason given")
    }

    func devices() throws(AudioError) -> AudioDevices {
        let deadline = MonotonicTime.now() + Self.timeout
        while !isOver {
            switch pa_context_get_state(context) {
            case PA_CONTEXT_READY: if !hasAsked { ask() }
            case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED: throw failure
            default: break
            }
            if MonotonicTime.now() >= deadline { throw .noServer(reason: "it takes too long") }
            var none: [pollfd] = []
            try loop.wait(&none, until: deadline)
        }
        for index in found.sinks.indices {
            found.sinks[index].isDefault = found.sinks[index].name == defaults.sink
        }
        for index in found.microphones.indices {
            found.microphones[index].isDefault = found.microphones[index].name == defaults.microphone
        }
        return found
    }

    /// Sends all requests at once. The answers arrive in the order of the requests.
    private func ask() {
        hasAsked = true
        let me = Unmanaged.passUnretained(self).toOpaque()
        finish(
            pa_context_get_server_info(
                context,
                { _, info, me in
                    guard let info, let me else { return }
                    DeviceInquiry.from(me).defaults = (
                        info.pointee.default_sink_name.map { String(cString: $0) },
                        info.pointee.default_source_name.map { String(cString: $0) }
                    )
                }, me))
        finish(
            pa_context_get_sink_info_list(
                context,
                { _, info, _, me in
                    guard let info, let me else { return }
                    DeviceInquiry.from(me).note(sink: info.pointee)
                }, me))
        finish(
            pa_context_get_source_info_list(
                context,
                { _, info, isLast, me in
                    guard let me else { return }
                    if isLast != 0 { DeviceInquiry.from(me).isOver = true }
                    if let info { DeviceInquiry.from(me).note(source: info.pointee) }
                }, me))
    }

    private func note(sink info: pa_sink_info) {
        found.sinks.append(
            AudioDevices.Device(
                name: Self.text(info.name), description: Self.text(info.description),
                state: Self.text(info.state.rawValue),
                isMuted: info.mute != 0))
    }

    private func note(source info: pa_source_info) {
        guard info.monitor_of_sink == shim_PA_INVALID_INDEX else { return }
        found.microphones.append(
            AudioDevices.Device(
                name: Self.text(info.name), description: Self.text(info.description),
                state: Self.text(info.state.rawValue),
                isMuted: info.mute != 0))
    }

    /// The states of sinks and sources have equal numbers.
    private static func text(_ state: Int32) -> String {
        switch state {
        case PA_SINK_RUNNING.rawValue: "running"
        case PA_SINK_IDLE.rawValue: "idle"
        case PA_SINK_SUSPENDED.rawValue: "suspended"
        default: ""
        }
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

    private static func from(_ pointer: UnsafeMutableRawPointer) -> DeviceInquiry {
        Unmanaged<DeviceInquiry>.fromOpaque(pointer).takeUnretainedValue()
    }
}
