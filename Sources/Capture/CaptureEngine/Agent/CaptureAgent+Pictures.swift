import CaptureLink
import Clocks
import HostConnection
import MediaTypes
import RateControl
import Threading
import VideoEncoding

/// Decides when the agent takes a picture, and of what kind.
extension CaptureAgent {
    var reasons: PictureSchedule.Reasons {
        guard sharing == .live else { return PictureSchedule.Reasons(isForced: wantsAny, hasChange: false) }
        // A requested picture goes before refinement, even if it has to wait. So does a change that the rate limit
        // holds back, because refinement in the meantime would hold it back for longer.
        let mayRefine = refines && !wantsAny && pipeline?.owesChanges != true
        let refinement = mayRefine ? pipeline?.refinementDue : nil
        return PictureSchedule.Reasons(
            isForced: wantsAny, hasChange: hasChange, refinement: refinement ?? .distantFuture,
            poll: screen.pollDue(period: schedule.period))
    }

    /// With a constant quantizer, nothing is refined; looking for something to refine would cost time at each turn.
    private var refines: Bool { (configuration.refines || sharpensUntil != nil) && configuration.qp == nil }

    private var wantsAny: Bool { wantsKeyFrame || wantsPicture }

    private var hasChange: Bool {
        pipeline?.owesChanges == true || screen.mayHaveChanged && (screen.reportsDamage || screen.needsFullGrab)
    }

    /// Takes and sends a picture if one is due; returns true if one was due, even if there was nothing to send.
    func takePictureIfDue() throws(CaptureError) -> Bool {
        guard link.hasReader, !isPaused, !screen.isOutdated else { return false }
        let now = MonotonicTime.now()
        guard link.isReady else {
            schedule.forgetChange()
            // Damage accumulates in the server; the next picture includes all of it.
            isHeldBack = true
            return false
        }
        if isHeldBack {
            isHeldBack = false
            if screen.mayHaveChanged, schedule.due(reasons) < now { account.statistics.heldBack &+= 1 }
            if sharing == .live, hasChange { schedule.noticedWholeChange(at: now) }
        }
        if let sharpensUntil, now >= sharpensUntil { endSharpening() }
        // Unlike one that is asked for, it waits until the next frame is due.
        if scheduledKeyFrames.isDue(now) { wantsKeyFrame = true }
        if sharing == .live, hasChange { noticeChange(now) }
        guard schedule.due(reasons) <= now else { return false }
        if sharing != .live {
            try takeInsteadOfScreen(now)
        } else if isRefinementNext(now) {
            try refine(now)
        } else {
            try takeScreen(now)
        }
        sendStatisticsIfDue(now)
        return true
    }

    private func noticeChange(_ now: MonotonicTime) {
        if let painted = screen.paintedAt {
            schedule.noticedWholeChange(at: painted)
        } else {
            schedule.noticedChange(at: now)
        }
    }

    /// Sends a slate if one is due, or else one more picture of what viewers already see.
    private func takeInsteadOfScreen(_ now: MonotonicTime) throws(CaptureError) {
        let pipeline = try currentPipeline()
        if wantsKeyFrame {
            showsPointer = false
            try send(pipeline.takeSlate(slateText(sharing), at: now))
        } else {
            try send(pipeline.takeStill(at: now))
        }
        wantsPicture = false
        schedule.took(at: now)
    }

    /// Whether refinement is next. Changes and requested pictures go first.
    private func isRefinementNext(_ now: MonotonicTime) -> Bool {
        guard refines, let due = pipeline?.refinementDue, schedule.isRefinementDue(due, now) else {
            return false
        }
        return !wantsAny && pipeline?.owesChanges != true && !(hasChange && schedule.isChangeDue(now))
    }

    private func refine(_ now: MonotonicTime) throws(CaptureError) {
        let pipeline = try currentPipeline()
        let outcome = try pipeline.coder.refine(at: now)
        switch outcome {
        case .picture(let picture):
            try send(picture)
            schedule.refined(at: now)
            if sharpensUntil != nil, pipeline.refinementDue == nil { endSharpening() }
        case .nothing, .unchanged: schedule.holdRefinement(until: now + schedule.period)
        case .later(let time): schedule.holdRefinement(until: time)
        }
    }

    private func takeScreen(_ now: MonotonicTime) throws(CaptureError) {
        if schedule.isHeld(now), schedule.isKeepAliveDue(now), let pipeline, pipeline.coder.hasPicture {
            // The change waits for the rate limit, but the stream must not be silent.
            try send(
                pipeline.takeStill(at: now), isStale: hasChange)
            schedule.sentStill(at: now)
            return
        }
        let isForced = wantsAny || schedule.isKeepAliveDue(now)
        let (settling, waited) = (schedule.settled(at: now), schedule.waited(at: now))
        if screen.mayHaveChanged && screen.reportsDamage { account.statistics.damageEvents &+= 1 }
        let outcome = try currentPipeline().takePicture(
            at: now, isForced: isForced, isKeyFrame: wantsKeyFrame)
        switch outcome {
        case .picture(let picture):
            wantsPicture = false
            showsPointer = pointer.mode == .drawn
            try send(picture, settling: settling, waited: waited)
            if pipeline?.owesChanges == true {
                // The picture of a video is to follow this one of the text beside it.
                schedule.noticedWholeChange(at: now)
            } else if picture.damage.isEmpty {
                schedule.sentStill(at: now)
            } else {
                schedule.took(at: now)
            }
        case .nothing:
            // Ask again a little later if the screen is changing its size, or if only a part of it is captured: the
            // drawing may be outside that part, and go on.
            schedule.foundNothing(
                at: now,
                mayAskAgainAtOnce: screen.showsAllChanges && screen.reportsDamage && !screen.needsFullGrab)
        case .unchanged: schedule.foundUnchanged(at: now)
        case .later(let time):
            if configuration.logsRate { log.info("rate: \(account.rate.lastDecisionDescription)") }
            schedule.hold(until: time, hasPicture: pipeline?.coder.hasPicture == true)
        }
    }

    private func send(
        _ picture: PictureCoder.Picture, settling: Interval = .zero, waited: Interval? = nil, isStale: Bool = false
    ) throws(CaptureError) {
        guard let pipeline else { return }
        if picture.encoded.isRandomAccess {
            wantsKeyFrame = false
            log.debug("key frame \(account.statistics.idrPictures)")
        }
        if configuration.logsRate { log.info("rate: \(account.rate.lastDecisionDescription)") }
        recentWork.tookPicture(
            encodingSoFar: account.statistics.encodeNanoseconds,
            damaged: picture.damage.isEmpty ? 0 : pipeline.damagedPixels, of: pipeline.size)
        var notice = PictureNotice(
            sequenceNumber: sequenceNumber, damage: picture.damage,
            isPointerDrawn: showsPointer && sharing == .live,
            isToBeRefined: refines && pipeline.refinementDue != nil, qp: UInt8(clamping: picture.qp),
            settling: settling, waited: waited, worked: MonotonicTime.now() - picture.captureTime)
        notice.isStale = isStale
        try link.send(picture, notice)
        sequenceNumber &+= 1
        scheduledKeyFrames.sent(isKeyFrame: picture.encoded.isRandomAccess, at: picture.captureTime)
        // The next scheduled picture is soon enough, because no viewer waits for it.
        if link.recorder?.wantsKeyFrame(behind: picture) == true { wantsKeyFrame = true }
        if link.recorder?.takeGap() == true { demandKeyFrame() }
    }

    private func currentPipeline() throws(CaptureError) -> PicturePipeline {
        if let pipeline { return pipeline }
        let log = log
        let new = try PicturePipeline(
            screen, configuration: configuration, chroma: chroma, account: account, onWarning: { log.debug($0) })
        if sharpensUntil != nil { new.coder.minQP = Self.sharpQP }
        pipeline = new
        return new
    }

    /// Sends statistics after a picture, at most once a second. A still screen causes no wake-up for figures: they
    /// accompany the picture that keeps the stream alive.
    private func sendStatisticsIfDue(_ now: MonotonicTime) {
        if now < statisticsDue || !link.host.takesMessages { return }
        statisticsDue = now + .seconds(1)
        account.statistics.bytes = link.host.bytesSent
        account.statistics.residentBytes = residentMemory.bytes
        account.statistics.recent = recentWork.take(account.statistics, cpuTime: cpuTime(), now: now)
        link.send(.statistics(account.statistics))
    }
}
