import CLinux
import CaptureLink
import Glibc
import LinkTransport
import MediaTypes
import X11Capture
import X264Encoding

/// The capture process: takes pictures of a screen while somebody wants them and something changes, encodes them, and
/// writes them to the host.
///
/// All on the thread that calls `run`: it sleeps in poll(2) on the display, the link and `stopDescriptor`.
public final class CaptureAgent {
    private let configuration: CaptureConfiguration
    private let stopDescriptor: Int32
    private let log: @Sendable (CaptureLogLevel, String) -> Void
    private let screen: ScreenCapture
    private let link: HostLink
    private var pipeline: PicturePipeline?
    private var schedule: PictureSchedule
    private var rate: RateSettings
    private var statistics = CaptureStatistics()
    private var statisticsDue = MonotonicTime.zero
    private var sequenceNumber: UInt64 = 0
    private var isPaused = false
    private var wantsIDR = false
    // A picture is wanted even where nothing has changed.
    private var wantsPicture = false
    private var isHeldBack = false
    private var refinement = Refinement()

    /// Opens the display; the link is opened by `run`.
    ///
    /// `stopDescriptor` becomes readable when capture shall end (see `ProcessSignals`); it stays the caller's.
    public init(
        _ configuration: CaptureConfiguration, stopDescriptor: Int32,
        log: @escaping @Sendable (CaptureLogLevel, String) -> Void
    ) throws(CaptureError) {
        self.configuration = configuration
        self.stopDescriptor = stopDescriptor
        self.log = log
        try Self.checkFolder(of: configuration.link)
        do {
            screen = try ScreenCapture(
                display: configuration.display, methods: configuration.grabMethods, onWarning: { log(.warning, $0) })
        } catch {
            throw .screen(error)
        }
        link = HostLink(configuration.link, isLegacy: configuration.isLegacy, log: log)
        rate = RateSettings(bitRate: configuration.bitRate)
        schedule = PictureSchedule(
            period: .seconds(1) / Int64(max(1, configuration.framesPerSecond)), keepAlive: configuration.keepAlive)
        log(
            .info,
            "screen of \(screen.size), pictures by \(screen.grabMethod.rawValue)"
                + (screen.reportsDamage ? "" : "; the display doesn't tell what changes, so each picture is compared"))
    }

    /// Captures until told to stop, or until the host is gone for good. Errors have been told to the host.
    public func run() throws(CaptureError) -> CaptureEnd {
        do throws(CaptureError) {
            while true {
                if try screenChangedSize() { adoptSize() }
                if try link.connectIfDue(.now()) { greetHost() }
                if link.hasEnded { return .hostGone }
                if try takePictureIfDue() {
                    // Waiting for the picture may have taken events off the connection: look again before sleeping.
                    continue
                }
                if try waitForEvents() {
                    link.end(.stopped, "capture was told to stop")
                    return .stopped
                }
            }
        } catch {
            link.end(error.endReason, error.description)
            throw error
        }
    }

    private func screenChangedSize() throws(CaptureError) -> Bool {
        do { return try screen.readEvents() } catch { throw .screen(error) }
    }

    private func adoptSize() {
        log(.info, "the screen is now \(screen.size)")
        pipeline = nil
        link.send(.size(screen.size))
        demandIDR()
    }

    /// A new host knows nothing: it gets an IDR picture at once, and says itself if it wants no more.
    private func greetHost() {
        isPaused = false
        demandIDR()
    }

    private func demandIDR() {
        wantsIDR = true
        schedule.reset()
    }

    private var reasons: PictureSchedule.Reasons {
        PictureSchedule.Reasons(
            isForced: wantsIDR || wantsPicture, isDamaged: screen.mayHaveChanged, looksForPointer: screen.drawsPointer)
    }

    /// Takes and sends a picture where it is time to; true where the display was asked for something.
    private func takePictureIfDue() throws(CaptureError) -> Bool {
        guard link.isConnected, !isPaused else { return false }
        let now = MonotonicTime.now()
        guard schedule.due(reasons) <= now else { return false }
        guard link.isReady else {
            // Damage adds up in the server; the next picture has it all.
            if !isHeldBack, screen.mayHaveChanged { statistics.heldBack &+= 1 }
            isHeldBack = true
            return false
        }
        isHeldBack = false
        let isForced = wantsIDR || wantsPicture || schedule.isKeepAliveDue(now)
        if screen.mayHaveChanged && screen.reportsDamage { statistics.damageEvents &+= 1 }
        let pipeline = try currentPipeline()
        let taken = try pipeline.takePicture(isForced: isForced, forceIDR: wantsIDR, statistics: &statistics)
        guard let picture = taken else {
            // A screen that is changing its size is asked again a little later.
            schedule.foundNothing(at: now, mayAskAgainAtOnce: screen.reportsDamage && !screen.isIncomplete)
            return true
        }
        schedule.took(at: now, isChange: !picture.damage.isEmpty)
        if picture.encoded.isIDR {
            wantsIDR = false
            log(.debug, "IDR picture \(statistics.idrPictures)")
        }
        wantsPicture = refinement.wantsAnother(quantizer: picture.encoded.quantizer, isChange: !picture.damage.isEmpty)
        let sets = [pipeline.encoder.sequenceParameterSet, pipeline.encoder.pictureParameterSet]
        try link.send(picture, sequenceNumber: sequenceNumber, parameterSets: sets)
        sequenceNumber &+= 1
        sendStatisticsIfDue(now)
        return true
    }

    private func currentPipeline() throws(CaptureError) -> PicturePipeline {
        if let pipeline { return pipeline }
        let log = log
        let new = try PicturePipeline(
            screen, framesPerSecond: configuration.framesPerSecond, rate: rate, preset: configuration.preset,
            onWarning: { log(.debug, "x264: \($0)") })
        pipeline = new
        return new
    }

    private func sendStatisticsIfDue(_ now: MonotonicTime) {
        if now < statisticsDue { return }
        statisticsDue = now + .seconds(5)
        statistics.bytes = link.bytesSent
        statistics.residentBytes = residentBytes()
        link.send(.statistics(statistics))
    }

    private func handle(_ request: HostLink.Request) {
        switch request {
        case .requestIDR:
            log(.debug, "the host wants an IDR picture")
            demandIDR()
        case .pause:
            log(.debug, "the host wants no pictures")
            isPaused = true
        case .resume:
            log(.debug, "the host wants pictures")
            isPaused = false
            wantsPicture = true
            schedule.reset()
        case .frameRate(let wanted):
            let most = FrameRate(framesPerSecond: configuration.framesPerSecond)
            // A rate of nothing would be a pause, which has a message of its own.
            let rate = max(min(wanted, most), FrameRate(millihertz: 100))
            schedule.period = Interval(nanoseconds: 1_000_000_000_000 / Int64(rate.millihertz))
        case .bitRate(let wanted):
            // What the user allowed is the most, whatever the viewers' paths would carry.
            rate.bitRate = BitRate(
                bitsPerSecond: max(min(wanted.bitsPerSecond, configuration.bitRate.bitsPerSecond), 10_000))
            do {
                try pipeline?.encoder.reconfigure(rate: rate)
            } catch {
                log(.warning, "\(error)")
            }
        }
    }

    /// Sleeps until something happens or is due; true where capture shall end.
    private func waitForEvents() throws(CaptureError) -> Bool {
        var due = link.nextAttempt
        // While the host hasn't taken the last picture, only its taking it counts.
        if link.isReady, !isPaused { due = min(due, schedule.due(reasons)) }
        let linkEvents = link.wantsWrite ? POLLIN | POLLOUT : POLLIN
        var watched = (
            pollfd(fd: stopDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: screen.fileDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: link.descriptor, events: Int16(linkEvents), revents: 0)
        )
        let count = withUnsafeMutableBytes(of: &watched) {
            poll($0.baseAddress?.assumingMemoryBound(to: pollfd.self), 3, Self.milliseconds(until: due))
        }
        if count < 0, errno != EINTR { throw .system(call: "poll", code: errno) }
        if count <= 0 { return false }
        if watched.0.revents != 0 { return true }
        let now = MonotonicTime.now()
        if Int32(watched.2.revents) & POLLOUT != 0 { link.flush(now) }
        // Also after an error or a hang-up: reading tells which.
        if Int32(watched.2.revents) & ~POLLOUT != 0 { link.receive(now, size: screen.size) { handle($0) } }
        return false
    }

    /// For poll(2): rounded up, or we would wake too early and turn in circles.
    private static func milliseconds(until due: MonotonicTime) -> Int32 {
        if due == .distantFuture { return -1 }
        let rest = due - .now()
        return Int32(clamping: max(0, (rest.nanoseconds + 999_999) / 1_000_000))
    }

    /// A host may come later, but not into a folder that isn't there.
    private static func checkFolder(of address: LinkAddress) throws(CaptureError) {
        guard case .unix(let path) = address, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            return
        }
        let folder = String(path[..<slash])
        var status = stat()
        if stat(folder, &status) != 0, errno == ENOENT || errno == ENOTDIR {
            throw .link(.folderMissing(folder: folder))
        }
    }
}
