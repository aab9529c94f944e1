import CaptureLink
import Dispatch
import H264
import Ingest
import MediaTypes
import Synchronization
import Threading
import WebRTC

/// A publisher's video as the source of a track: access units from the media thread, handed on by a thread of its own, since the
/// head of a track may make its source wait.
///
/// A publisher sends whether anybody looks or not. It is asked for an IDR where it says that it makes them; one that says so and
/// doesn't counts from then on as one that can't, and the host's own encoder makes them.
final class PublishedSource: PictureSource, PublishedUnitReceiver {
    /// How much may wait for the track; a few seconds of pictures.
    private static let waitingUnits = 256
    private static let waitingBytes = 32 << 20
    /// How long pictures are left out for want of an IDR that can't be asked for.
    private static let patience = Interval.seconds(2)

    private let log: EventLog
    private let epoch = UInt64.random(in: 1 ... .max)
    private let wake: WakeUp
    private let state = Mutex(State())
    /// Left when the track is free again.
    private let attachment = DispatchGroup()

    private struct State {
        var waiting: [PublishedUnit] = []
        var waitingBytes = 0
        /// Since when pictures are left out, since those that follow need some that were; nil while none are.
        var needsIDRSince: MonotonicTime?
        var canMakeIDR = false
        var askForIDR: (@Sendable () -> Void)?
        /// The track that it is attached to.
        var ingest: TrackIngest?
        var end: String?
        /// Whether the track is free again.
        var hasLetGo = false
    }

    /// A source of no track yet; nil where the process has no descriptor left.
    init?(log: EventLog) {
        guard let wake = WakeUp() else { return nil }
        self.wake = wake
        self.log = log
    }

    /// Makes its pictures those of the track; false where the track has another source, or the system no thread left. Once.
    ///
    /// - Parameters:
    ///   - ingest: the head of the track.
    ///   - recorder: where the track is recorded; nil where it isn't.
    ///   - predecessor: a source of the track that has ended and may not have let go of it yet.
    ///   - askForIDR: asks the publisher; nil where it can't be asked.
    ///   - onFailure: the track was given to another source while the predecessor let go of it.
    func attach(
        to ingest: TrackIngest, recorder: LinkRecorder?, after predecessor: PublishedSource?,
        askForIDR: (@Sendable () -> Void)?,
        onFailure: @escaping @Sendable () -> Void
    ) -> Bool {
        state.withLock { state in
            state.ingest = ingest
            state.askForIDR = askForIDR
            state.canMakeIDR = askForIDR != nil
        }
        let isAttached = ingest.attach(self)
        guard isAttached || predecessor?.isLettingGo == true else { return false }
        attachment.enter()
        // It holds the source until that has ended.
        let thread = NamedThread("publisher") { [self] in
            if isAttached || Self.attach(self, to: ingest, after: predecessor) {
                run(into: ingest, recorder)
            } else {
                onFailure()
            }
            state.withLock { $0.hasLetGo = true }
            attachment.leave()
        }
        if thread != nil { return true }
        log.error("no thread left for a publisher")
        ingest.detach(self, reason: "the host has no thread left")
        attachment.leave()
        return false
    }

    private static func attach(
        _ source: PublishedSource, to ingest: TrackIngest, after predecessor: PublishedSource?
    ) -> Bool {
        _ = predecessor?.attachment.wait(timeout: .now() + .seconds(10))
        return ingest.attach(source)
    }

    /// Whether it is over for it, but its last pictures are still on their way.
    var isLettingGo: Bool { state.withLock { $0.end != nil && !$0.hasLetGo } }

    /// Whether it is over for it.
    var hasEnded: Bool { state.withLock { $0.end != nil } }

    /// Ends it: the track keeps its last picture, and viewers are told `reason`. Doing it again does nothing.
    func end(reason: String) {
        state.withLock { state in
            if state.end == nil { state.end = reason }
        }
        wake.signal()
    }

    // MARK: What the publisher sends

    func receive(_ unit: PublishedUnit) {
        let isFirstLoss = state.withLock { state in
            if unit.isIDR { state.needsIDRSince = nil }
            // One that nobody can ask for may never come.
            if !state.canMakeIDR, let since = state.needsIDRSince, unit.arrival - since >= Self.patience {
                state.needsIDRSince = nil
            }
            let isFull =
                state.waiting.count >= Self.waitingUnits
                || state.waitingBytes + unit.byteCount > Self.waitingBytes && !state.waiting.isEmpty
            let hadLoss = state.needsIDRSince != nil
            if isFull {
                state.waiting = []
                state.waitingBytes = 0
                state.needsIDRSince = unit.isIDR ? nil : unit.arrival
            }
            if state.needsIDRSince == nil || !unit.isPicture {
                state.waiting.append(unit)
                state.waitingBytes += unit.byteCount
            }
            return state.needsIDRSince != nil && !hadLoss
        }
        wake.signal()
        if isFirstLoss { requestIDR() }
    }

    func keyFrameRequestsIgnored() {
        let ingest = state.withLock { state in
            state.canMakeIDR = false
            return state.ingest
        }
        log.info("a publisher makes no IDR when asked: the host's own encoder does, where one is needed")
        ingest?.abilitiesChanged(of: self)
    }

    // MARK: What the track asks for

    var canMakeIDR: Bool { state.withLock { $0.canMakeIDR } }
    var restsUnwatched: Bool { false }

    func requestIDR() {
        let ask = state.withLock { $0.askForIDR }
        ask?()
    }

    func requestPicture() {
        // Its pictures come when they come.
    }
    func setRunning(_ isRunning: Bool) {
        // A publisher sends until it is told to go.
    }
    func setTargetBitRate(_ rate: BitRate) {
        // Its own settings say at what rate it sends.
    }

    // MARK: The thread

    private func run(into ingest: TrackIngest, _ recorder: LinkRecorder?) {
        var builder = AccessUnitBuilder()
        var recording = recorder.map { PublicationRecording($0, epoch: epoch, at: monotonicNow()) }
        while true {
            let (units, end) = state.withLock { state in
                defer {
                    state.waiting = []
                    state.waitingBytes = 0
                }
                return (state.waiting, state.end)
            }
            for unit in units {
                for nalUnit in unit.nalUnits {
                    builder.add(AnnexB.startCode + nalUnit, captureTime: unit.captureTime)
                }
                builder.endAccessUnit()
                while let accessUnit = builder.next() {
                    let wantsIDR = recording?.record(accessUnit, at: unit.arrival) ?? false
                    if wantsIDR, canMakeIDR { requestIDR() }
                    ingest.deliver(accessUnit, from: self, epoch: epoch, arrival: unit.arrival)
                }
            }
            if let end {
                ingest.detach(self, reason: end)
                return
            }
            if units.isEmpty { wake.wait() }
        }
    }
}
