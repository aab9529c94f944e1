import AudioCoding
import CaptureLink
import Clocks
import Glibc
import HostConnection
import LinkTransport
import MediaTypes
public import Threading

/// The audio capture: records a desktop's sound, a microphone or both while there are listeners, encodes the sound to
/// Opus, and writes it to the host.
///
/// Everything runs on the thread that calls `run`, which sleeps in ppoll(2) on PulseAudio, the link and the signals.
public final class AudioAgent {
    private let configuration: AudioConfiguration
    private let log: EventLog
    private let loop: PulseLoop
    private let pulse: PulseConnection
    private let sources: [AudioSource]
    private var mixer: AudioMixer
    private var rhythm = SlotRhythm()
    private var gate = SilenceGate()
    private let encoder: OpusEncoder
    private let link: HostLink
    /// By how much the samples that a decoder plays are earlier than the mixed samples.
    private let lookahead: Interval
    /// The descriptors to wait for: the stop descriptor and the link's.
    private var watched: [pollfd]
    /// Whether the host has reported listeners. Nothing is recorded before.
    private var isHeard = false
    /// Whether the sharer has muted or paused.
    private var isMuted = false
    /// Whether the sharer has muted the microphone.
    private var isMicrophoneMuted = false
    /// The packets that the host has had no room for since it accepted the last one.
    private var dropped = 0

    /// All messages of sound belong to this stream of the link.
    static let stream: UInt8 = 1
    /// The kernel doubles this size, and counts 768 bytes for each packet, or 1280 above about 60 kbit/s. It thus keeps
    /// 13 to 21 packets: 260 to 420 ms. Older packets would only be late.
    private static let sendBuffer: Int32 = 8192
    /// Sound that a host hasn't accepted after this long is left out. Until the capture time of a starting program's
    /// sound is known, some 0.5 s of it gather, and are then sent at once.
    private static let maxDelay = Interval.milliseconds(750)

    /// Prepares everything; `run` connects to PulseAudio and to the host. From then on, only ``PulseFiles`` and those
    /// of the system are opened.
    ///
    /// - Parameter stopDescriptor: Becomes readable when the capture has to end. The caller keeps it.
    /// - Throws: `library` if there is no memory, or `coding` if the Opus encoder can't be opened.
    public init(_ configuration: AudioConfiguration, stopDescriptor: Int32, log: EventLog) throws(AudioError) {
        self.configuration = configuration
        self.log = log
        loop = try PulseLoop()
        pulse = PulseConnection(configuration, loop: loop, log: log)
        var sources: [AudioSource] = []
        for source in configuration.sources {
            sources.append(try AudioSource(source, channelCount: configuration.channelCount, log: log))
        }
        self.sources = sources
        mixer = AudioMixer(sources.map { ($0.queue, $0.gain) }, channelCount: configuration.channelCount)
        do throws(AudioCodingError) {
            encoder = try OpusEncoder(channelCount: configuration.channelCount, bitRate: configuration.bitRate)
        } catch {
            throw .coding(error)
        }
        lookahead = ClockRate.audio.interval(of: Int64(encoder.lookahead))
        var linkConfiguration = HostLinkConfiguration(link: configuration.link)
        linkConfiguration.token = configuration.linkToken
        linkConfiguration.stream = Self.stream
        linkConfiguration.sendBuffer = Self.sendBuffer
        link = HostLink(linkConfiguration, log: log)
        watched = [pollfd(stopDescriptor), pollfd(-1)]
        // Where no server is named, libpulse makes the folders in which it looks for one. A confined process couldn't.
        if configuration.server == nil, getenv("PULSE_SERVER") == nil { pulse.advance(.now()) {} }
    }

    /// Captures until `stopDescriptor` is readable, or until the host is gone for good. A thrown error has been
    /// reported to the host.
    public func run() throws(AudioError) -> AudioEnd {
        defer {
            for source in sources { source.close() }
            pulse.close()
        }
        do throws(AudioError) {
            let end = try capture()
            if end == .stopped { link.end(.stopped, "the capture of sound was told to stop") }
            return end
        } catch {
            link.end(error.endReason, error.description)
            throw error
        }
    }

    private func capture() throws(AudioError) -> AudioEnd {
        while true {
            let now = MonotonicTime.now()
            link.leaveStalledHost(now)
            try connectIfDue(now)
            if link.hasEnded { return .hostGone }
            pulse.advance(now) { for source in sources { source.close() } }
            for source in sources { source.advance(now, isWanted(source) ? pulse : nil) }
            try sendSound(now)
            if try waitForEvents() { return .stopped }
        }
    }

    /// Whether listeners hear the captured sound.
    private var isWanted: Bool { link.takesMessages && link.isConnected && isHeard && !isMuted }

    private func isWanted(_ source: AudioSource) -> Bool {
        isWanted && !(isMicrophoneMuted && source.configuration.kind == .microphone)
    }

    private func connectIfDue(_ now: MonotonicTime) throws(AudioError) {
        do throws(SocketError) {
            guard try link.connectIfDue(now) else { return }
        } catch {
            throw .link(error)
        }
        // The host reports the current state to each new connection.
        isHeard = false
        isMicrophoneMuted = false
        encoder.setBitRate(configuration.bitRate)
    }

    /// Whether slots wait in their queues because the host hasn't accepted the last packet.
    private var isHeldBack: Bool { isWanted && !link.isReady }

    /// Sends the slots that are complete, unless they are silent.
    private func sendSound(_ now: MonotonicTime) throws(AudioError) {
        var last: Slot?
        var count = 0
        while !isHeldBack, let slot = mixer.mix(.now()) {
            last = slot
            count += 1
            if isWanted, gate.passes(mixer.mixed) { try send(slot, now) }
        }
        rhythm.looked(last, count: count, at: now)
    }

    private func send(_ slot: Slot, _ now: MonotonicTime) throws(AudioError) {
        guard now - slot.end < Self.maxDelay else {
            dropped += 1
            return
        }
        if dropped > 0 {
            log.debug("the host took nothing: \(Slot.duration.milliseconds * Int64(dropped)) ms of sound were left out")
            dropped = 0
        }
        let packet: UnsafeBufferPointer<UInt8>
        do throws(AudioCodingError) {
            packet = try encoder.encode(mixer.mixed)
        } catch {
            throw .coding(error)
        }
        do throws(LinkError) {
            try withUnsafePointer(to: packet) { unit throws(LinkError) in
                try link.send(
                    OutgoingFrame(
                        units: UnsafeBufferPointer(start: unit, count: 1), captureTime: slot.time - lookahead))
            }
        } catch {
            throw .message(error)
        }
    }

    /// Sleeps until something happens or is due; returns true if the capture has to end.
    private func waitForEvents() throws(AudioError) -> Bool {
        var due = min(link.nextAttempt, link.stallDeadline, pulse.deadline)
        if !isHeldBack { due = min(due, mixer.due) }
        for source in sources { due = min(due, source.deadline) }
        watched[1] = pollfd(link.descriptor, Int32(link.events))
        // Another machine's clock is measured by the arrival of its answers, so these must not wait.
        try loop.wait(&watched, until: due, restingUntil: pulse.isLocal ? rhythm.restEnd : nil)
        if watched[0].isReady { return true }
        let now = MonotonicTime.now()
        let events = Int32(watched[1].revents)
        if events & POLLOUT != 0 { link.flush(now) }
        // Also read after an error or a hang-up: the result of reading shows which of the two it was.
        if events & ~POLLOUT != 0 { link.receive(now, introduction: introduction) { handle($0) } }
        return false
    }

    /// The messages that precede the first packet.
    private var introduction: [LinkMessage] {
        let hello = Hello(
            role: .capture, name: "screenrelay-sound \(screenRelayVersion)", processID: UInt32(clamping: getpid()),
            makesKeyFrames: false)
        return [.hello(hello), .format(.opus)]
    }

    private func handle(_ request: LinkMessage) {
        switch request {
        case .hello:
            if isMuted { link.send(.sharing(.paused)) }
        case .watched: setHeard(true)
        case .unwatched: setHeard(false)
        case .sharerPaused(let isMuted): setMuted(isMuted)
        case .microphoneMuted(let isMuted): setMicrophoneMuted(isMuted)
        case .bitRate(let wanted):
            // The user's limit applies, even if the viewers' connections would carry more.
            encoder.setBitRate(min(wanted, configuration.bitRate))
        default: break
        }
    }

    private func setHeard(_ isHeard: Bool) {
        guard isHeard != self.isHeard else { return }
        log.debug(isHeard ? "there are listeners" : "no listeners")
        self.isHeard = isHeard
        beginAnew()
    }

    private func setMuted(_ isMuted: Bool) {
        if isMuted != self.isMuted {
            log.info(isMuted ? "muted" : "no longer muted")
            self.isMuted = isMuted
            beginAnew()
        }
        link.send(.sharing(isMuted ? .paused : .live))
    }

    /// Other sources go on.
    private func setMicrophoneMuted(_ isMuted: Bool) {
        guard isMuted != isMicrophoneMuted else { return }
        log.info(isMuted ? "the microphone is muted" : "the microphone is no longer muted")
        isMicrophoneMuted = isMuted
        for source in sources where source.configuration.kind == .microphone {
            source.close()
            source.queue.removeAll()
        }
    }

    /// Drops captured sound that was not sent. The sources follow by themselves.
    private func beginAnew() {
        for source in sources { source.close() }
        mixer.removeAll()
        rhythm = SlotRhythm()
        gate = SilenceGate()
        encoder.reset()
    }
}

/// The reason for an orderly end of the capture of sound.
public enum AudioEnd: Sendable, Equatable {
    /// The capture was asked to stop.
    case stopped
    /// The host has ended the connection, which was an inherited descriptor, so there is no way to reach it again.
    case hostGone
}
