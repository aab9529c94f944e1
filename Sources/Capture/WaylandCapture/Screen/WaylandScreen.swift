public import CaptureEngine
import Clocks
public import ColorConversion
public import LinkTransport
public import MediaTypes
import Threading

/// The pictures of a PipeWire node, which the desktop of a Wayland session shares. Not thread-safe; it is used and
/// released on the thread that creates it.
///
/// The compositor sends a picture when something has changed. The newest one is kept in the compositor's buffer until
/// the agent asks for changes, and is then compared with the last one, or soon after (``ComparisonPace``). What has
/// changed is copied, and the buffer goes back: at once, or after a large change once its picture has been sent. Pixels
/// are handed out from the copy or, until then, from the buffer. Pictures arrive only in `readEvents`.
public final class WaylandScreen: ScreenSource {
    public let target: CaptureTarget
    public private(set) var size: PictureSize
    /// Other orders of bytes are changed into this one as pictures are taken.
    public let pixelFormat = ScreenToPlanes.PixelFormat.bgrx
    /// Whether the shared monitor is unplugged. What happens to a window isn't known, and its last picture remains.
    public internal(set) var isWaiting = false
    /// False: the lock is a matter of the login session, which the agent watches.
    public let isLocked = false
    public let reportsDamage = true
    public let showsAllChanges = true
    public private(set) var needsFullGrab = true
    public internal(set) var isOutdated = false
    public var drawsPointer: Bool
    public var fileDescriptor: Int32 { connection.fileDescriptor }
    public var description: String { "\(target) of \(size), pictures by PipeWire" }

    let stream: CastStream
    /// The portal's session that the node belongs to; nil if there is none.
    let session: PortalSession?
    /// The monitor that the node shows; nil if it shows something else, or if nothing is known about it.
    let monitor: SharedMonitor?
    private let connection: PipeWireConnection
    let onWarning: (String) -> Void
    let owner = ThreadOwner()
    private var kept: KeptPicture
    // What `lookAtPointer` and `takePointerShape` last returned, and when.
    var toldPosition: PointerPosition?
    var toldShape: Int?
    var lastPointerLook = MonotonicTime.zero
    /// When to ask for a picture that is missing; nil if none is.
    var resumption: Resumption?
    private var drawn = DrawnPointer()
    private var pace = ComparisonPace()
    // Kept so that a picture needs no allocation.
    private var changes: [PixelRectangle] = []
    private var area = DamagedArea()
    private var underPointer: [UInt8] = []

    /// The session manager may not know the node yet when a stream asks for it, and then never connects the two.
    private static let attempts = 3
    /// How long to wait after a stream that failed at once.
    private static let pause = Interval.milliseconds(300)

    /// Connects to a node of a PipeWire remote, and waits for its first picture.
    ///
    /// - Parameters:
    ///   - remote: A connection to PipeWire, as OpenPipeWireRemote of org.freedesktop.portal.ScreenCast returns it.
    ///   - node: The identifier of the stream's node, from the same portal.
    ///   - session: The session that the node belongs to. It is kept, and the screen ends with it.
    ///   - monitor: The monitor that the node shows. While it is unplugged, the screen waits.
    ///   - target: What the node shows, for the log and for notices to viewers.
    ///   - framesPerSecond: The highest rate at which the compositor is to send pictures.
    ///   - newMonitor: The wanted size of a monitor that the compositor makes for the node; nil if it shows something
    ///     that is there already. A new monitor is black until the compositor has painted it.
    ///   - drawsPointer: Whether to draw the pointer into the pictures if the node reports it.
    ///   - patience: How long to wait for a first picture, until the stream is connected again.
    ///   - onWarning: Receives a line for anything that doesn't work as well as it could, and for each of the first
    ///     buffers that can't be used.
    /// - Throws: ``CastError`` if the remote can't be used, if no picture arrives after three attempts, or after one in
    ///   which only the pointer does, or if the pictures can't be used.
    public init(
        remote: consuming FileDescriptor, node: UInt32, of session: PortalSession? = nil,
        on monitor: SharedMonitor? = nil, target: CaptureTarget = .screen, framesPerSecond: Int = 60,
        newMonitor: PictureSize? = nil, drawsPointer: Bool = true, patience: Interval = .seconds(2),
        onWarning: @escaping (String) -> Void = { _ in }
    ) throws(CastError) {
        connection = try PipeWireConnection(remote: remote)
        self.onWarning = onWarning
        let request = CastRequest(framesPerSecond: framesPerSecond, newMonitor: newMonitor)
        let first = try Self.firstPicture(connection, node, request, patience: patience, onWarning)
        stream = first.stream
        size = first.size
        kept = try Self.memory(size)
        self.session = session
        self.monitor = monitor
        self.target = target
        self.drawsPointer = drawsPointer
        if let session { connection.watch(session.fileDescriptor) }
        if let monitor { connection.watch(monitor.descriptor) }
    }

    deinit { stream.close() }

    /// Returns a stream whose first picture has arrived, or that shows a new monitor without one, and the picture's
    /// size.
    private static func firstPicture(
        _ connection: PipeWireConnection, _ node: UInt32, _ request: CastRequest, patience: Interval,
        _ onWarning: @escaping (String) -> Void
    ) throws(CastError) -> (stream: CastStream, size: PictureSize) {
        var request = request
        var attempt = 1
        // Why the first attempt has failed, if PipeWire has said that it was because of the formats.
        var refusal: CastError?
        while true {
            let stream = try CastStream(connection, node: node, request, onWarning: onWarning)
            let end = MonotonicTime.now() + patience
            while stream.failure == nil, MonotonicTime.now() < end {
                connection.iterate()
                if let picture = stream.newest { return (stream, picture.size) }
                if stream.failure == nil { waitForEvents(on: connection.fileDescriptor, until: end) }
            }
            // mutter 48 paints a new monitor only once something is on it, which may never be.
            if request.newMonitor != nil, stream.failure == nil, stream.lastFault == nil, let format = stream.format {
                return (stream, format.size)
            }
            // If the pictures can't be used, another attempt wouldn't change that.
            let reason = stream.lastFault?.description ?? "the stream is \(stream.state)"
            // mutter 48 counts a buffer with only the pointer as a picture, after which the next one has to wait. It
            // may send one each time before the picture is due, and then never sends that (MUTTER_DEBUG=screen-cast
            // says "too early"): with several monitors that are painted in step.
            let isPointer = stream.bringsOnlyPointer && stream.lastFault == nil
            let failure: CastError =
                stream.failure ?? (isPointer ? .onlyPointer(node: node) : .noPicture(node: node, reason: reason))
            if failure == .noFormat { refusal = failure }
            if attempt == attempts || stream.lastFault != nil || failure.isFinal {
                // A desktop may end the screen cast because of the formats, too.
                throw failure.mayBeWanted ? refusal ?? failure : failure
            }
            // If the formats are the reason, the next failure names them.
            request.acceptsAnyFormat = stream.format == nil
            onWarning("\(failure); connecting again")
            stream.close()
            if stream.failure != nil { waitForEvents(on: -1, until: MonotonicTime.now() + pause) }
            attempt += 1
        }
    }

    private static func memory(_ size: PictureSize) throws(CastError) -> KeptPicture {
        guard let memory = KeptPicture(size) else { throw .noMemory(size) }
        return memory
    }

    /// Throws if the compositor has changed to a format that can't be read, or if the screen cast has ended, unless the
    /// reason is that its monitor is unplugged.
    public func readEvents(isReadable: Bool = true, isPointerReadable: Bool = false) throws(CaptureError) -> Bool {
        owner.check()
        settle()
        let now = MonotonicTime.now()
        if isReadable || nextCheck <= now {
            connection.iterate()
            if connection.takeNews() || session.map({ $0.deadline <= now }) == true {
                session?.process()
                monitor?.process()
            }
        }
        if isWaiting { return try awaitMonitor() }
        stream.endPutOff(now)
        // A compositor that has lost PipeWire closes the session, too, so that the loss has to be known first.
        if endOfSession != nil { connection.iterate() }
        if let failure = stream.failure { return try end(reason(for: failure)) }
        if let endOfSession { return try end(endOfSession) }
        stream.lookForLost(now)
        askForMissing(now)
        guard let picture = stream.newest, picture.size != size else { return false }
        do throws(CastError) {
            kept = try Self.memory(picture.size)
        } catch {
            throw .screen(error)
        }
        size = picture.size
        needsFullGrab = true
        return true
    }

    // MARK: - Pictures

    public var mayHaveChanged: Bool {
        needsFullGrab || stream.newest != nil && stream.putOffUntil == nil
            || drawn.isStale(stream.pointer.shapeNumber, at: pointerArea)
    }

    /// When the first of the changes was painted that `fetchDamage` hasn't returned yet; nil if there are none.
    public var paintedAt: MonotonicTime? { stream.paintedAt }

    /// Compares the newest picture with the last one, or puts that off; never waits.
    public func fetchDamage() -> DamagedArea {
        changes.removeAll(keepingCapacity: true)
        compareNewest()
        drawn.update(stream.pointer.shape, stream.pointer.shapeNumber, at: pointerArea, changes: &changes)
        if needsFullGrab {
            needsFullGrab = false
            changes.removeAll(keepingCapacity: true)
            changes.append(size.whole)
        }
        area.set(changes, in: size)
        return area
    }

    private func compareNewest() {
        guard stream.newest != nil, needsFullGrab || stream.putOffUntil == nil else { return }
        let now = MonotonicTime.now()
        let due = needsFullGrab ? now : pace.due(now)
        if due > now, stream.putNewestOff(until: due, ifLike: kept) { return }
        settle()
        stream.takeNewest { pixels, parts in kept.update(from: pixels, in: parts, changes: &changes) }
        if !changes.isEmpty { pace.foundChange(at: now) }
    }

    /// Copies what has changed if that is still to be done, and gives the compositor its buffer back.
    func settle() {
        guard stream.isPictureTaken else { return }
        if stream.canReadTaken { kept.settle() } else { kept.loseNewest() }
        stream.giveTakenBack()
    }

    /// Called before the thread sleeps, once a picture has been sent.
    public func pollQueuedEvents() -> Bool {
        settle()
        return false
    }

    public func fullDamage() -> DamagedArea {
        needsFullGrab = true
        return fetchDamage()
    }

    /// Hands out the pixels of the last picture; returns false only if the compositor has taken away its memory.
    public func grab(_ area: DamagedArea, _ body: (GrabbedPixels) -> Void) -> Bool {
        guard stream.canReadTaken else {
            kept.loseNewest()
            stream.giveTakenBack()
            needsFullGrab = true
            return false
        }
        for rectangle in area.rectangles {
            let pointer = drawn.area.intersection(rectangle)
            if pointer.isEmpty {
                body(kept.pixels(of: rectangle))
                continue
            }
            // Pieces begin at even rows.
            let (top, bottom) = (rectangle.y, rectangle.y + rectangle.height)
            let first = max(top, pointer.y & ~1)
            let end = min(bottom, (pointer.y + pointer.height + 1) & ~1)
            if first > top { body(kept.pixels(of: rectangle.rows(top..<first))) }
            drawPointer(on: rectangle.rows(first..<end), body)
            if bottom > end { body(kept.pixels(of: rectangle.rows(end..<bottom))) }
        }
        return true
    }

    /// Hands out a copy of `part` with the pointer on it. The kept picture stays as it is, for the next comparison.
    private func drawPointer(on part: PixelRectangle, _ body: (GrabbedPixels) -> Void) {
        let bytes = part.width * CastFormat.bytesPerPixel
        let missing = bytes * part.height - underPointer.count
        if missing > 0 { underPointer.append(contentsOf: repeatElement(0, count: missing)) }
        underPointer.withUnsafeMutableBytes { memory in
            guard let base = memory.baseAddress else { return }
            let source = kept.pixels(of: part)
            for row in 0..<part.height {
                (base + row * bytes).copyMemory(from: source.base + row * source.stride, byteCount: bytes)
            }
            let pixels = GrabbedPixels(rectangle: part, base: base, stride: bytes)
            drawn.draw(into: pixels, format: pixelFormat)
            body(pixels)
        }
    }
}

extension PixelRectangle {
    /// The part of the rectangle in these rows of the picture.
    fileprivate func rows(_ rows: Range<Int>) -> PixelRectangle {
        PixelRectangle(x: x, y: rows.lowerBound, width: width, height: rows.count)
    }
}
