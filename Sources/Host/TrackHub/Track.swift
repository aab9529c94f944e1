import CaptureLink
import MediaTypes

/// Makes the decisions about one track as a whole: events and the time go in, frames and actions come out.
///
/// Decides which frames readers get and where on the timeline, when a key frame must be made and by which encoder, and
/// what the source and viewers are told. A single viewer's timing is up to the sender of its session. A track has no
/// lock and no clock, and makes no calls: ``TrackHub`` protects it, and carries out its actions in order.
public struct Track: Sendable {
    /// The actions that follow from the events so far, in order; the hub carries them out.
    var actions: [TrackAction] = []

    // What readers get.
    private var frames: PlacedFrames
    private var frameOrigin = FrameOriginSelector()

    // What is asked of the source.
    private(set) var keyFrames = KeyFramePolicy()
    private(set) var chroma = ChromaPolicy()
    private(set) var demand = SourceDemand()
    private(set) var rates = SharedRates()
    private var pointerMode = PointerMode.drawn
    private var checkingViewers = 0

    // What is known of the source.
    /// What the source can do; nil if there is none.
    private(set) var abilities: SourceAbilities?
    /// Whether there is a source; viewers are told this state, or the gate's reason for a pause.
    private var presence = SourceState.waiting
    private var announced = SourceState.waiting
    private(set) var work = SourceWork()
    /// The pointer's last reported position.
    private var pointer: PointerReport?

    init(origin: MonotonicTime, limits: CacheLimits) {
        frames = PlacedFrames(origin: origin, limits: limits)
    }

    /// The frames of `layer`.
    subscript(layer: Layer) -> LayerFrames { frames[layer] }
    /// The time with which the timeline begins.
    var origin: MonotonicTime { frames.timeline.origin }
    /// The format of the source's last frame; nil if it has sent none.
    var format: TrackFormat? { frames.format }

    /// The source's state, as viewers are told.
    var state: SourceState {
        if presence == .live, let pause = frameOrigin.gate.pause { .paused(pause) } else { presence }
    }

    /// Whether viewers may see what the source's frame `number` shows.
    func shows(_ number: UInt64) -> Bool { frameOrigin.shows(number) }
    /// Whether a key frame would be of any use now.
    var takesKeyFrame: Bool { frameOrigin.gate.takesKeyFrame }

    // MARK: The source

    /// Attaches a source. Returns false if there is one already.
    mutating func attach(_ abilities: SourceAbilities, now: MonotonicTime) -> Bool {
        guard self.abilities == nil else { return false }
        presence = .live
        work.sourceChanged()
        frames.sourceCame()
        demand.sourceCame()
        frameOrigin.gate.sourceCame()
        if frameOrigin.gate.isPaused { actions.append(.setSharerPaused(true)) }
        abilitiesChanged(to: abilities, now: now)
        announce()
        return true
    }

    /// The source reports its abilities.
    mutating func abilitiesChanged(to abilities: SourceAbilities, now: MonotonicTime) {
        self.abilities = abilities
        actions.append(.sourceChanged(canMakeKeyFrames: abilities.makesKeyFrames))
        tellSource(now)
        if abilities.tellsPointer { actions.append(.setPointerMode(pointerMode)) }
        actions.append(.report(.ability(tellsPointer: abilities.tellsPointer)))
    }

    /// The source leaves; its last frame stays on the track.
    mutating func detach(reason: String, now: MonotonicTime) {
        abilities = nil
        presence = .gone(since: now, reason: reason)
        pointer = nil
        work.sourceChanged()
        actions += [.sourceChanged(canMakeKeyFrames: false), .report(.lost)]
        announce()
    }

    /// The source reports about the pointer.
    mutating func report(_ report: PointerReport) {
        if case .position = report {
            pointer = report
            // Viewers must not see where the pointer goes while the sharer pauses.
            guard frameOrigin.gate.pause == nil else { return }
        }
        actions.append(.report(report))
    }

    /// The source reports whether it shows the screen; the next frame that it sends is a key frame.
    ///
    /// The report may contradict the host's last order, because reports and orders cross on the link, or because the
    /// source was disconnected when the order was given. Then the source gets the order again:
    ///
    /// | the source reports | the host's order | the source is told to |
    /// | --- | --- | --- |
    /// | that it shows the screen | a pause, which lasts until it is lifted at the host | pause |
    /// | a pause, and it doesn't pause by itself | a pause that has been lifted | go on |
    /// | anything else | any | nothing |
    ///
    /// - Parameter pausesItself: whether the source may pause without an order. An audio source doesn't.
    mutating func sharingChanged(to sharing: SharingState, pausesItself: Bool) {
        frameOrigin.gate.sourceSays(sharing)
        if !frameOrigin.gate.isOpen { frames.forget() }
        if frameOrigin.gate.isPaused, sharing == .live { actions.append(.setSharerPaused(true)) }
        if !pausesItself, sharing != .live, !frameOrigin.gate.isPaused, frameOrigin.lastPauseOrder > 0 {
            actions.append(.setSharerPaused(false))
        }
        announce()
    }

    /// The source reports about its work.
    mutating func workReported(_ report: SourceReport) { work.reported(report) }

    // MARK: Frames

    /// Accepts the source's next frame. Returns its number among all frames of the source, and its place on the track;
    /// the place is nil if no reader gets the frame.
    mutating func takeFromSource(
        _ frame: CodedFrame, epoch: UInt64, arrival: MonotonicTime
    ) -> (number: UInt64, placed: TrackFrame?) {
        let passes = frameOrigin.admitSourceFrame(isIDR: frame.isRandomAccess)
        let isTaken = passes && (frame.format?.kind != .audio || frameOrigin.hears(frame, arrival: arrival))
        let placed = isTaken ? place(frame, epoch: epoch, arrival: arrival) : nil
        passOnKeptRequest(now: arrival)
        return (frameOrigin.delivered, placed)
    }

    /// Accepts a frame that the host's own encoder made of the picture of the source's frame `number`. Returns nil if
    /// no reader gets the frame.
    mutating func takeFallback(
        _ frame: CodedFrame, epoch: UInt64, number: UInt64, now: MonotonicTime
    ) -> TrackFrame? {
        defer { passOnKeptRequest(now: now) }
        let wasFallbackActive = frameOrigin.isFallbackActive
        guard frameOrigin.admitFallbackFrame(isIDR: frame.isRandomAccess, number: number) else { return nil }
        if !wasFallbackActive { actions.append(.noteFallbackBegan) }
        return place(frame, epoch: epoch, arrival: now)
    }

    private mutating func place(_ frame: CodedFrame, epoch: UInt64, arrival: MonotonicTime) -> TrackFrame? {
        guard let placed = frames.place(frame, epoch: epoch, arrival: arrival) else { return nil }
        if frame.isRandomAccess { keyFrames.idrArrived() }
        if frameOrigin.notePublished(isPointerDrawn: frame.isPointerDrawn) {
            actions.append(.report(.pictures(areDrawn: frame.isPointerDrawn)))
        }
        return placed
    }

    /// Accepts a frame of the low layer, made of the picture of the source's frame `number`. Returns its place on the
    /// track's timeline; nil if viewers may not see the picture, or if the layer has no readers.
    mutating func takeLow(_ frame: CodedFrame, epoch: UInt64, number: UInt64, now: MonotonicTime) -> TrackFrame? {
        guard frames.hasLow, shows(number) else { return nil }
        let (placed, needsKeyFrame) = frames.placeLow(frame, epoch: epoch, arrival: now)
        if needsKeyFrame { actions.append(.makeLowKeyFrame) }
        return placed
    }

    // MARK: Key frames

    /// Requests a key frame of `layer`, at the intervals of ``KeyFramePolicy``, however many requests there are.
    mutating func requestKeyFrame(of layer: Layer = .source, now: MonotonicTime) {
        switch layer {
        case .source: if keyFrames.request(now: now) { askForKeyFrame() }
        case .low:
            if frameOrigin.gate.isOpen, frames.requestLowKeyFrame(now: now) { actions.append(.makeLowKeyFrame) }
        }
    }

    /// A reader has no key frame to begin with. If the cache has one, the reader is about to get it.
    mutating func requestStart(of layer: Layer, now: MonotonicTime) {
        if !self[layer].cache.canStart { requestKeyFrame(of: layer, now: now) }
    }

    /// Passes on a key frame request that arrived too soon after the previous one.
    mutating func passOnKeptRequest(now: MonotonicTime) {
        if keyFrames.takeDueRequest(now: now) { askForKeyFrame() }
    }

    private mutating func askForKeyFrame() {
        guard takesKeyFrame else { return }
        keyFrames.encoderAsked()
        if abilities?.makesKeyFrames == true {
            // If the source hangs, the host's encoder makes a key frame, so that a viewer doesn't wait forever. The
            // source's key frame cancels this, and may arrive before the next action is carried out.
            actions += [.makeKeyFrame(after: .seconds(1)), .requestKeyFrame]
        } else {
            actions.append(.makeKeyFrame(after: .zero))
        }
    }

    /// Requests one more frame, even of a screen that stands still.
    mutating func requestPicture() {
        if abilities != nil, demand.toldRunning == true { actions.append(.requestPicture) }
    }

    // MARK: Who takes the frames

    mutating func viewerCame(decoding format: ChromaFormat, now: MonotonicTime) {
        // A recording keeps the source awake, too.
        let wasAsleep = demand.viewers == 0 && !demand.isRecorded
        demand.viewers += 1
        if format == .yuv420 { demand.viewersWithout444 += 1 }
        chroma.viewersChanged(without444: demand.viewersWithout444, now: now)
        tellSource(now)
        guard wasAsleep, abilities?.restsUnwatched == true else { return }
        // A new viewer must not first see an outdated frame, from before the source rested.
        frames.forget()
        requestKeyFrame(now: now)
    }

    mutating func viewerLeft(decoding format: ChromaFormat, now: MonotonicTime) {
        demand.viewers = max(0, demand.viewers - 1)
        if format == .yuv420 { demand.viewersWithout444 = max(0, demand.viewersWithout444 - 1) }
        chroma.viewersChanged(without444: demand.viewersWithout444, now: now)
        tellSource(now)
    }

    /// Notes that a viewer that checks its pictures has joined, or left if `change` is negative.
    mutating func checkingViewersChanged(by change: Int) {
        let wereChecked = checkingViewers > 0
        checkingViewers = max(0, checkingViewers + change)
        if wereChecked != (checkingViewers > 0) { actions.append(.checkPictures(!wereChecked)) }
    }

    /// Goes back to 4:4:4 when it is time.
    mutating func pollChroma(now: MonotonicTime) {
        if chroma.poll(now: now) { tellSource(now) }
    }

    /// Returns whether a viewer that decodes all formats up to `format` can't watch, because it can't decode the
    /// track's format and the source can't send another.
    func excludes(viewerDecoding format: ChromaFormat) -> Bool {
        let ability: ChromaAbility = abilities.map { $0.changesChroma ? .changing : .fixed } ?? .absent
        return ChromaPolicy.excludes(viewerDecoding: format, track: self.format?.chroma, source: ability)
    }

    /// Changes the demand, and sends the source the instructions that follow.
    mutating func change(now: MonotonicTime, _ change: (inout SourceDemand) -> Void) {
        change(&demand)
        tellSource(now)
    }

    /// Applies all readers' reports on their viewers' paths, and gives the encoders the rates that follow.
    mutating func pathsChanged(_ readers: [(layer: Layer, report: PathReport?)], now: MonotonicTime) {
        let before = rates.source
        rates.update(readers, isRecorded: demand.isRecorded)
        if rates.source != before { demand.rate = rates.source }
        (demand.carried, demand.share) = (rates.carried, rates.share)
        if frames.setLowRate(rates.low, now: now) { actions.append(.encodeLow(at: rates.low)) }
        tellSource(now)
    }

    mutating func setPointerMode(_ mode: PointerMode) {
        pointerMode = mode
        if abilities?.tellsPointer == true { actions.append(.setPointerMode(mode)) }
    }

    /// Sends the source the instructions that it hasn't been given yet.
    private mutating func tellSource(_ now: MonotonicTime) {
        guard let abilities else { return }
        while let word = demand.nextWord(chroma: abilities.changesChroma ? chroma.wanted : nil, now: now) {
            actions.append(.tell(word))
        }
    }

    // MARK: The sharer

    /// Whether the sharer pauses, here or at the source.
    var isPausedBySharer: Bool { frameOrigin.gate.pause == .sharer }

    /// The sharer pauses or goes on.
    ///
    /// - Parameter order: the number of the order; if it is not higher than the last one's, the order does nothing.
    mutating func setPaused(_ isPaused: Bool, order: UInt64?, now: MonotonicTime) {
        guard let needsKeyFrame = frameOrigin.setPaused(isPaused, order: order, now: now) else { return }
        if isPaused { frames.forget() }
        if abilities != nil { actions.append(.setSharerPaused(isPaused)) }
        if needsKeyFrame { askForKeyFrame() }
        announce()
    }

    /// Tells viewers the source's state, if it has changed.
    private mutating func announce() {
        let state = state
        guard announced != state else { return }
        announced = state
        if case .paused = state { actions.append(.report(.lost)) }
        actions.append(.announce(state))
        if state == .live, let pointer { actions.append(.report(pointer)) }
    }
}
