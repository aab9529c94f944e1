import CPulse
import MediaTypes
import Threading

/// The connection to the PulseAudio server: it is made again after the server has gone, and knows the devices.
///
/// libpulse reports changes, and nothing is requested without one, so that an unchanging server causes no wake-ups.
/// Belongs to the capture thread, which calls `advance` after each wait of the loop. Outlives every wait of the loop,
/// because libpulse keeps a pointer to it.
final class PulseConnection {
    private enum State {
        case waiting(until: MonotonicTime)
        case connecting
        case ready
    }

    /// The context, while there is a connection that can be used.
    var readyContext: OpaquePointer? { if case .ready = state { context } else { nil } }
    /// Whether the server is on this machine, and so has the same clock.
    var isLocal: Bool { context.map { pa_context_is_local($0) == 1 } ?? false }
    /// The devices; nil while they aren't known.
    private(set) var devices: PulseDevices?

    private let loop: PulseLoop
    private let configuration: AudioConfiguration
    private let log: EventLog
    private var context: OpaquePointer?
    private var state = State.waiting(until: .zero)
    private var delay = PulseConnection.minDelay
    private var hasToldWaiting = false
    /// Whether something has changed since the devices were asked for.
    private var isStale = false
    /// The answers that have arrived; nil while there was no request.
    private var answers: PulseDevices?

    private static let minDelay = Interval.milliseconds(100)
    private static let maxDelay = Interval.seconds(2)

    init(_ configuration: AudioConfiguration, loop: PulseLoop, log: EventLog) {
        self.configuration = configuration
        self.loop = loop
        self.log = log
    }

    deinit { close() }

    /// The time at which `advance` has something to do.
    var deadline: MonotonicTime {
        if case .waiting(let until) = state { until } else { .distantFuture }
    }

    /// Connects if an attempt is due, and adopts the server's answers. Streams must be closed before the connection is:
    /// `willClose` is called to do so.
    func advance(_ now: MonotonicTime, willClose: () -> Void) {
        if case .waiting(let until) = state, now >= until { connect(now) }
        guard let context else { return }
        switch pa_context_get_state(context) {
        case PA_CONTEXT_READY:
            if case .connecting = state { begin(context) }
            if isStale, answers == nil { ask(context) }
        case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED:
            willClose()
            connectionLost(now, reason(of: context))
        default: break
        }
    }

    /// Disconnects for good.
    func close() {
        if let context {
            pa_context_set_subscribe_callback(context, nil, nil)
            // This also cancels all requests, so that no more answers arrive.
            pa_context_disconnect(context)
            pa_context_unref(context)
        }
        context = nil
        devices = nil
        answers = nil
        isStale = false
    }

    private func connect(_ now: MonotonicTime) {
        guard let new = pa_context_new(loop.api, "ScreenRelay") else { return connectionLost(now, "no memory") }
        context = new
        state = .connecting
        // A server is for the user's session to start, not for a capture.
        if pa_context_connect(new, configuration.server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 {
            connectionLost(now, reason(of: new))
        }
    }

    private func connectionLost(_ now: MonotonicTime, _ reason: String) {
        close()
        if !hasToldWaiting { log.info("no PulseAudio server answers (\(reason)); waiting for it") }
        hasToldWaiting = true
        state = .waiting(until: now + delay)
        delay = min(delay * 2, Self.maxDelay)
    }

    private func reason(of context: OpaquePointer) -> String {
        pa_strerror(pa_context_errno(context)).map { String(cString: $0) } ?? "for no reason given"
    }

    private func begin(_ context: OpaquePointer) {
        state = .ready
        delay = Self.minDelay
        hasToldWaiting = false
        log.info("connected to PulseAudio")
        pa_context_set_subscribe_callback(
            context,
            { _, _, _, me in
                guard let me else { return }
                PulseConnection.from(me).isStale = true
            }, Unmanaged.passUnretained(self).toOpaque())
        let mask = [
            PA_SUBSCRIPTION_MASK_SERVER, PA_SUBSCRIPTION_MASK_SINK, PA_SUBSCRIPTION_MASK_SOURCE,
            PA_SUBSCRIPTION_MASK_SINK_INPUT,
        ].reduce(UInt32(0)) { $0 | $1.rawValue }
        finish(pa_context_subscribe(context, pa_subscription_mask_t(rawValue: mask), nil, nil))
        isStale = true
    }

    private static func from(_ pointer: UnsafeMutableRawPointer) -> PulseConnection {
        Unmanaged<PulseConnection>.fromOpaque(pointer).takeUnretainedValue()
    }
}

/// The requests to the server. The answers arrive in the order of the requests.
extension PulseConnection {
    private func ask(_ context: OpaquePointer) {
        isStale = false
        answers = PulseDevices()
        let me = Unmanaged.passUnretained(self).toOpaque()
        for source in configuration.sources {
            switch source.kind {
            case .desktop:
                let name = source.device ?? "@DEFAULT_SINK@"
                finish(
                    pa_context_get_sink_info_by_name(
                        context, name,
                        { _, info, _, me in
                            guard let info, let me, let monitor = info.pointee.monitor_source_name else { return }
                            PulseConnection.from(me).answers?.sink = (info.pointee.index, String(cString: monitor))
                        }, me))
            case .microphone:
                let name = source.device ?? "@DEFAULT_SOURCE@"
                finish(
                    pa_context_get_source_info_by_name(
                        context, name,
                        { _, info, _, me in
                            guard let info, let me else { return }
                            PulseConnection.from(me).noteMicrophone(info.pointee)
                        }, me))
            }
        }
        let last = pa_context_get_sink_input_info_list(
            context,
            { _, info, isLast, me in
                guard let me else { return }
                let connection = PulseConnection.from(me)
                if isLast != 0 {
                    connection.takeAnswers()
                } else if let info, info.pointee.corked == 0 {
                    connection.answers?.playedOn.append(info.pointee.sink)
                }
            }, me)
        // Without a last request, no last answer arrives.
        if last == nil { answers = nil }
        finish(last)
    }

    private func noteMicrophone(_ info: pa_source_info) {
        guard let name = info.name else { return }
        // Where there is no microphone, PulseAudio's default is the monitor of a sink: that is the desktop's sound.
        let isMonitor = info.monitor_of_sink != shim_PA_INVALID_INDEX
        let isNamed = configuration.sources.contains { $0.kind == .microphone && $0.device != nil }
        if isMonitor, !isNamed { return }
        answers?.microphone = PulseDevices.Device(source: String(cString: name), mayBeHeard: info.mute == 0)
    }

    private func takeAnswers() {
        guard let new = answers else { return }
        answers = nil
        let old = devices
        devices = new
        for source in configuration.sources {
            let device = new.device(source.kind)
            let isKnown = old != nil && old?.device(source.kind)?.source == device?.source
            if !isKnown { tell(source, device) }
        }
    }

    private func tell(_ source: AudioConfiguration.Source, _ device: PulseDevices.Device?) {
        let what = source.kind == .desktop ? "sink" : "microphone"
        if let device {
            log.info("the \(what) is \(device.source)")
        } else {
            log.info("there is no \(what)\(source.device.map { " \($0)" } ?? ""); waiting for it")
        }
    }
}
