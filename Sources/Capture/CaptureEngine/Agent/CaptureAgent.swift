import CLinux
import CaptureLink
import Clocks
import Glibc
import HostConnection
import LinkTransport
public import LoginSession
import MediaTypes
import RateControl
import RecordingFiles
public import Threading

/// The capture process: takes pictures of a ``ScreenSource`` while they are wanted and something changes, encodes them,
/// and writes them to the host.
///
/// Everything runs on the thread that calls `run`, which sleeps in ppoll(2) on the display, the link and the signals.
public final class CaptureAgent {
    let configuration: CaptureConfiguration
    let signals: AgentSignals
    let log: EventLog
    let screen: any ScreenSource
    /// The login session whose lock pauses sharing; nil if it isn't watched.
    let session: LoginSession?
    let link: PictureLink
    let pointer: PointerReporter
    var pipeline: PicturePipeline?
    var schedule: PictureSchedule
    var scheduledKeyFrames: ScheduledKeyFrames
    let account: PictureAccount
    private var bitRate: BitRateChoice
    var chroma: ChromaFormat
    var statisticsDue = MonotonicTime.zero
    var recentWork: RecentWork
    let residentMemory = ResidentMemory()
    /// The end of sharpening, at the latest; nil if nothing is being sharpened.
    var sharpensUntil: MonotonicTime?
    var sequenceNumber: UInt64 = 0
    /// Whether the host has reported that there are no viewers.
    var isPausedByHost = false
    /// Whether there are neither viewers nor a recording.
    var isPaused: Bool { isPausedByHost && !link.isRecording }
    /// How the host wants the pointer to reach viewers.
    var wantedPointerMode = PointerMode.drawn
    /// How the pointer reaches viewers now. A recording can show it only in the pictures.
    var pointerMode: PointerMode { wantedPointerMode == .apart && link.isRecording ? .drawn : wantedPointerMode }
    /// Whether the sharer has paused.
    var isSharerPaused = false
    var sharing = SharingState.live
    var wantsKeyFrame = false
    // Whether the pointer is drawn in the last picture of the screen that viewers have. A new mode takes effect with
    // the next one.
    var showsPointer = true
    // Whether a picture is wanted even if nothing has changed.
    var wantsPicture = false
    var isHeldBack = false
    // What the screen was told last.
    var isScreenNeeded = true
    // Whether the display may have sent something since events were read.
    var isDisplayReadable = true
    var isPointerReadable = true

    /// Opens the screen; `run` opens the link.
    ///
    /// - Parameter confine: Called once screen and recording are open, before the first thread is started: capture then
    ///   opens no file any more, and no socket but the link's.
    /// - Throws: `link` if the folder of the link's socket doesn't exist, `recording` if the recording can't be
    ///   created, or the error of `openScreen`.
    public convenience init(
        _ configuration: CaptureConfiguration, signals: AgentSignals, session: LoginSession? = nil,
        log: EventLog,
        confine: () -> Void = {},
        openScreen: () throws(CaptureError) -> any ScreenSource
    ) throws(CaptureError) {
        try self.init(configuration, signals: signals, session: session, log: log, openScreen: openScreen) {
            path throws(RecordingFileError) in
            let file = try RecordingFile(creating: path, sizeLimit: configuration.recordingLimit)
            // A recorder has a thread.
            confine()
            return try CaptureRecorder(file, log: log)
        }
        if configuration.recording == nil { confine() }
    }

    /// Opens the screen with a recorder of the caller's: `openRecorder` opens the recording that the configuration
    /// names, if any.
    init(
        _ configuration: CaptureConfiguration, signals: AgentSignals, session: LoginSession? = nil,
        log: EventLog,
        openScreen: () throws(CaptureError) -> any ScreenSource,
        openRecorder: (_ path: String) throws(RecordingFileError) -> CaptureRecorder
    ) throws(CaptureError) {
        self.configuration = configuration
        self.signals = signals
        self.session = session
        self.log = log
        try Self.checkFolder(of: configuration.link)
        screen = try openScreen()
        let recorder: CaptureRecorder?
        do throws(RecordingFileError) {
            recorder = try configuration.recording.map(openRecorder)
        } catch {
            throw .recording(error)
        }
        link = PictureLink(configuration, recorder: recorder, log: log)
        pointer = PointerReporter(screen)
        recentWork = RecentWork(since: .now(), cpuTime: cpuTime())
        chroma = configuration.chroma == .yuv420 ? .yuv420 : .yuv444
        let period = Interval.seconds(1) / Int64(max(1, configuration.framesPerSecond))
        bitRate = BitRateChoice(given: configuration.bitRate, first: configuration.firstBitRate)
        var rate = RateController(
            bitRate: bitRate.beginning, period: period, minQP: PictureCoder.minQP,
            constantQP: configuration.qp)
        rate.maxStep = configuration.lowestFramesPerSecond.map { .seconds(1) / Int64(max(1, $0)) }
        account = PictureAccount(rate)
        schedule = PictureSchedule(period: period, keepAlive: configuration.keepAlive)
        scheduledKeyFrames = ScheduledKeyFrames(configuration.keyFrames)
        log.info(screen.description)
    }

    /// Captures until asked to stop, or until the host is gone for good. A thrown error has been reported to the host.
    /// If the disk doesn't accept the end of a recording in time, this is the error, unless there is another.
    public func run() throws(CaptureError) -> CaptureEnd {
        link.beginRecording(pictureSize)
        if link.isRecording { demandKeyFrame() }
        let end: CaptureEnd
        do throws(CaptureError) {
            end = try capture()
        } catch {
            link.end(error.endReason, error.description)
            if let fault = link.recorder?.close() { log.warning("--record: \(fault)") }
            throw error
        }
        if end == .stopped { link.end(.stopped, "capture was told to stop") }
        if let fault = link.recorder?.close() { throw .recording(fault) }
        return end
    }

    private func capture() throws(CaptureError) -> CaptureEnd {
        while true {
            if try readScreenEvents() { adoptSize() }
            adoptSharing()
            link.host.leaveStalledHost(.now())
            if try link.connectIfDue(.now()) { greetHost() }
            if link.host.hasEnded { return .hostGone }
            tellNeed()
            try followPointer()
            // A picture may have brought events with it, or the end of the link, so look again before sleeping. But
            // look at the signals and the link in each turn: where looking at the screen takes long, the next picture
            // is due already.
            let wasDue = try takePictureIfDue()
            if try waitForEvents(atOnce: wasDue) { return .stopped }
        }
    }

    /// Reads the screen's events; returns true if its size has changed.
    private func readScreenEvents() throws(CaptureError) -> Bool {
        defer {
            isDisplayReadable = false
            isPointerReadable = false
        }
        return try screen.readEvents(isReadable: isDisplayReadable, isPointerReadable: isPointerReadable)
    }

    /// The size of the pictures, after scaling.
    var pictureSize: PictureSize { configuration.scale?.size(of: screen.size) ?? screen.size }

    /// The part of the pictures that shows the screen.
    private var content: PixelRectangle { PicturePipeline.content(of: screen, configuration) }

    private func adoptSize() {
        log.info("the picture is now \(pictureSize)")
        pipeline = nil
        adoptBitRate()
        link.send(.size(pictureSize))
        // The pointer's position was reported in pixels of the old size.
        pointer.tellAnew()
        demandKeyFrame()
    }

    /// Reports a change of the sharing state, and demands the picture that belongs to it.
    private func adoptSharing() {
        let isLocked = screen.isLocked || session?.isLocked == true
        let now: SharingState = isSharerPaused ? .paused : isLocked ? .locked : screen.isWaiting ? .windowHidden : .live
        if now == sharing { return }
        log.info(now == .live ? "sharing continues" : "viewers now see a notice: \(slateText(now))")
        sharing = now
        if now != .live { screen.showPoint(nil, in: pictureSize, content: content) }
        link.send(.sharing(now))
        demandKeyFrame()
    }

    func slateText(_ state: SharingState) -> String { Slate.text(for: state, of: screen.target) }

    /// Resets the requests of the last host. A new host knows nothing: it gets a key frame at once, and may ask for a
    /// pause, fewer pictures, or a different kind.
    private func greetHost() {
        isPausedByHost = false
        bitRate = BitRateChoice(given: configuration.bitRate, first: configuration.firstBitRate)
        setPeriod(.seconds(1) / Int64(max(1, configuration.framesPerSecond)))
        setChroma(configuration.chroma == .yuv420 ? .yuv420 : .yuv444)
        wantedPointerMode = .drawn
        _ = pointer.setMode(.drawn)
        endSharpening()
        demandKeyFrame()
    }

    func demandKeyFrame() {
        wantsKeyFrame = true
        schedule.reset()
    }

    private func followPointer() throws(CaptureError) {
        // The recording may have ended.
        if pointer.mode != pointerMode { setPointerMode() }
        guard link.hasReader, !isPaused, sharing == .live else { return }
        try pointer.look(.now(), content)
        if pointer.hasNews, link.isReady { pointer.tell(content) { link.send($0) } }
    }

    func handle(_ request: LinkMessage) {
        switch request {
        case .hello:
            if sharing != .live { link.send(.sharing(sharing)) }
            pointer.tellAnew()
        case .requestKeyFrame:
            log.debug("the host wants a key frame")
            demandKeyFrame()
        case .unwatched:
            log.debug("the host wants no pictures")
            isPausedByHost = true
        case .watched:
            log.debug("the host wants pictures")
            wantsPicture = true
            // A pause leaves nothing to wait for. Otherwise the rate limit holds: the host may ask often.
            if isPausedByHost { schedule.reset() }
            isPausedByHost = false
        case .pointerMode(let mode):
            wantedPointerMode = mode
            setPointerMode()
        case .sharerPaused(let isPaused): self.isSharerPaused = isPaused
        case .sharpen: sharpen(.now())
        case .pointing(let point):
            // Viewers who see a notice point at nothing on the screen.
            if sharing == .live || point == nil { screen.showPoint(point, in: pictureSize, content: content) }
        case .chroma(let format):
            guard configuration.chroma == .yuv444Or420, format != chroma else { return }
            log.info(format == .yuv420 ? "a viewer can't decode 4:4:4: switching to 4:2:0" : "switching back to 4:4:4")
            setChroma(format)
        case .frameRate(let wanted):
            let maxRate = FrameRate(framesPerSecond: configuration.framesPerSecond)
            // A rate of 0 would be a pause, which has its own message.
            let rate = max(min(wanted, maxRate), FrameRate(millihertz: 100))
            setPeriod(Interval(nanoseconds: 1_000_000_000_000 / Int64(rate.millihertz)))
        case .bitRate(let wanted):
            bitRate.limit = wanted
            adoptBitRate()
        case .carried(let carried):
            bitRate.carried = carried
            adoptBitRate()
        default: break
        }
    }

    private func setPointerMode() {
        // A flag on each picture tells the host which mode it shows.
        if pointer.setMode(pointerMode) { wantsPicture = true }
    }

    private func setPeriod(_ period: Interval) {
        schedule.change(to: period, at: .now())
        account.rate.period = period
        adoptBitRate()
    }

    private func adoptBitRate() {
        account.rate.bitRate = bitRate.rate(of: pictureSize, period: account.rate.period)
        schedule.release()
    }

    private func setChroma(_ format: ChromaFormat) {
        if format == chroma { return }
        chroma = format
        pipeline = nil
        demandKeyFrame()
    }

    /// A host may start later, but its socket can't appear in a folder that doesn't exist.
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
