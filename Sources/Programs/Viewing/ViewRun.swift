import Clocks
import CommandLine
import Glibc
public import Ingest
public import MediaTypes
import RoomConnections
public import Signalling
public import Threading
import VideoDecoding

/// Views one place until it ends, until its window is closed, or until told to stop: connects, decodes, shows, reports
/// once a second, and reconnects if a connection is lost after pictures have arrived. For one thread, which
/// ``run()`` keeps.
public final class ViewRun {
    /// How it is viewed.
    public struct Settings {
        /// How long to view; nil until stopped.
        public var duration: Interval?
        /// Whether the pictures are shown in a window.
        public var showsWindow = false
        /// The X display of the window; nil for WAYLAND_DISPLAY's compositor or, without one, DISPLAY's.
        public var display: String?
        /// The path of screenrelay-sound, which plays the sound; nil if none is played.
        public var soundProgram: String?
        /// Whether each second is reported as JSON instead of text for people.
        public var isJSON = false
        /// The TURN servers to use if UDP doesn't reach the server of a room; empty for those that it names.
        public var iceServers: [ICEServer] = []
        /// Records what arrives; nil if nothing is recorded.
        public var recorder: LinkRecorder?

        public init() {}
    }

    private enum Phase {
        case connecting, playing
        /// Another connection is tried at the deadline.
        case waiting
    }

    /// The longest time for connecting.
    private static let connectTimeout = Interval.seconds(15)

    private let place: ViewPlace
    private let settings: Settings
    /// A signalfd of the signals that end the program.
    private let signals: Int32
    /// Writes a line; false if it can't be written.
    private let output: (String) -> Bool
    private let log: EventLog

    private var connection: (any ViewConnection)?
    private var phase = Phase.connecting
    /// When the phase ends by itself.
    private var deadline = MonotonicTime.distantFuture
    private var pace = RetryPace()
    private var decoder: (any FrameDecoder)?
    private var gate = RandomAccessGate(isClosed: true)
    private var recording: ViewRecording?
    private var window: (any ViewWindow)?
    private var sound: SoundPlayer?
    private var hasTriedSound = false
    /// The newest picture, if it isn't shown yet.
    private var picture: I420Picture?
    private var figures = ViewFigures(now: .now())

    /// - Parameters:
    ///   - signals: a descriptor of `signalDescriptor(for:)`, whose signals end the run.
    ///   - output: writes a line of figures, and returns whether that was possible.
    public init(
        _ place: ViewPlace, _ settings: Settings, signals: Int32, log: EventLog, output: @escaping (String) -> Bool
    ) {
        self.place = place
        self.settings = settings
        self.signals = signals
        self.log = log
        self.output = output
    }

    /// Views until the end. Returns why it is over.
    public func run() -> ViewEnd {
        let begun = MonotonicTime.now()
        let end = settings.duration.map { begun + $0 } ?? .distantFuture
        var reportDue = begun + .seconds(1)
        var result = open()
        while result == nil {
            var entries = [
                pollfd(signals), pollfd(connection?.inbox.wake.descriptor ?? -1), window?.entry ?? pollfd(-1),
            ]
            waitForEvents(&entries, until: min(reportDue, end, deadline))
            if takeSignal(from: signals) != nil { result = .done }
            if entries[1].isReady { connection?.inbox.wake.consume() }
            // Events after a connection's end don't belong to the next connection.
            for event in connection?.inbox.take() ?? [] where result == nil && connection != nil {
                result = handle(event)
            }
            result = result ?? updateWindow()
            let now = MonotonicTime.now()
            if now >= deadline { result = result ?? pass() }
            if now >= reportDue {
                reportDue = reportDue + .seconds(1)
                // After a pause, the next second begins now: the figures of a moment would be far from the truth.
                if reportDue <= now { reportDue = now + .seconds(1) }
                if !report(at: now) { result = result ?? .done }
            }
            if now >= end {
                result = result ?? (figures.pictures > 0 ? ViewEnd.done : ViewEnd("no picture has arrived"))
            }
        }
        connection?.close()
        return result ?? .done
    }

    private func report(at now: MonotonicTime) -> Bool {
        let state: ViewSecond.State =
            switch phase {
            case .connecting: .connecting
            case .playing: .playing
            case .waiting: .waiting
            }
        let second = figures.take(state, at: now)
        return output(settings.isJSON ? second.json : second.text)
    }

    // MARK: The window

    /// Opens the window, once there is something to show: a missing file or host is reported before a missing display.
    private func openWindow() -> ViewEnd? {
        guard settings.showsWindow, window == nil else { return nil }
        do throws(ViewEnd) {
            window = try makeViewWindow(display: settings.display, log: log)
            return nil
        } catch {
            return error
        }
    }

    /// Shows the newest picture, and handles what has happened to the window.
    private func updateWindow() -> ViewEnd? {
        guard let window else { return nil }
        if let picture {
            window.show(picture)
            self.picture = nil
        }
        return switch window.handleEvents() {
        case .open: nil
        case .closed: .done
        case .failed(let end): end
        }
    }

    // MARK: Connections

    private func open() -> ViewEnd? {
        (decoder, gate) = (nil, RandomAccessGate(isClosed: true))
        do throws(ViewEnd) {
            connection = try connect()
        } catch {
            return error
        }
        phase = .connecting
        deadline = MonotonicTime.now() + Self.connectTimeout
        return nil
    }

    private func connect() throws(ViewEnd) -> any ViewConnection {
        switch place.kind {
        case .server(let server): try WHEPViewing(to: server, through: settings.iceServers)
        case .stream(let url): try RTSPReading(url)
        case .recording(let path): try RecordingReading(path)
        }
    }

    /// Does what is due at the deadline.
    private func pass() -> ViewEnd? {
        switch phase {
        case .connecting: ended(ViewEnd("no connection within \(Self.connectTimeout.milliseconds / 1000) s"))
        case .waiting: open()
        case .playing: nil
        }
    }

    private func handle(_ event: ViewEvent) -> ViewEnd? {
        switch event {
        case .connected:
            let now = MonotonicTime.now()
            (phase, deadline) = (.playing, .distantFuture)
            figures.connected(at: now)
            recording = settings.recorder.map { ViewRecording($0, at: now) }
            return openWindow()
        case .path(let path):
            figures.path = path
            return nil
        case .frame(let frame): return show(frame)
        case .gap:
            gate.close()
            connection?.requestKeyFrame()
            return nil
        case .ended(let end): return ended(end)
        }
    }

    /// Returns `end` unless another connection is to be tried.
    private func ended(_ end: ViewEnd) -> ViewEnd? {
        connection?.abandon()
        connection = nil
        guard figures.pictures > 0, end.mayPass else { return end }
        log.warning("\(end.reason ?? "the connection has ended"); trying again")
        phase = .waiting
        deadline = MonotonicTime.now() + pace.next()
        return nil
    }

    // MARK: Sound and pictures

    private func show(_ frame: ReceivedFrame) -> ViewEnd? {
        figures.arrived(frame)
        recording?.record(frame)
        if frame.codec == .opus { play(frame) }
        guard frame.codec.kind == .video, gate.passes(isRandomAccess: frame.coded.isRandomAccess) else { return nil }
        do throws(VideoDecodingError) {
            let decoder = try openDecoder(for: frame.codec)
            let before = decoder.pictureCount
            let pictures = try decoder.decode(frame.coded, copying: window != nil)
            guard decoder.pictureCount > before else { return nil }
            picture = pictures.last ?? picture
            figures.decoded(frame, size: frame.coded.format?.size, at: .now())
            pace.reset()
        } catch {
            guard error.wantsKeyFrame else { return ViewEnd("\(error)", .badData, mayPass: false) }
            log.debug("\(error)")
            gate.close()
            connection?.requestKeyFrame()
        }
        return nil
    }

    private func play(_ frame: ReceivedFrame) {
        if !hasTriedSound, let program = settings.soundProgram {
            hasTriedSound = true
            do throws(ViewEnd) {
                sound = try SoundPlayer(program)
            } catch {
                log.warning("no sound is played: \(error.reason ?? "")")
            }
        }
        sound?.play(frame.coded)
    }

    private func openDecoder(for codec: TrackFormat.Codec) throws(VideoDecodingError) -> any FrameDecoder {
        if let decoder { return decoder }
        let made = try codec.makeDecoder()
        decoder = made
        return made
    }
}
