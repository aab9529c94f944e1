import CPipeWire
import Clocks
import Glibc
import MediaTypes

/// A stream of pictures from a PipeWire node.
///
/// Everything happens in ``PipeWireConnection/iterate()``. The buffer of the newest picture is kept until it is taken
/// or a newer one arrives, and that of a taken one as long as it is needed (``giveTakenBack()``); every other goes back
/// to its sender at once. Not thread-safe.
final class CastStream {
    /// The reason why no more pictures arrive; nil while they may.
    private(set) var failure: CastError?
    /// The newest picture, if it hasn't been taken yet.
    var newest: ReceivedPicture? {
        didSet { putOffUntil = nil }
    }
    /// When the newest picture is to be taken, because it looks like the last one; nil if it is to be taken at once.
    var putOffUntil: MonotonicTime?
    /// When the oldest picture was painted that was neither taken nor put off; if there is none, the newest picture.
    var paintedAt: MonotonicTime?
    /// Whether the last picture that has arrived may be an old one, and a newer one is worth asking for: because that
    /// was lost, or because none has arrived since the sender was to go on.
    var isPictureMissing = false
    /// Whether pictures were lost before the last one, after which there has been no look yet.
    var hasLost = false
    /// When to call ``lookForLost(_:)`` even if nothing arrives: soon after the last picture; nil after that call.
    var nextLook: MonotonicTime?
    /// The visible part of the last picture, in pixels of the upright one.
    private(set) var visible = PixelRectangle.nothing
    /// What was wrong with the last picture that couldn't be used.
    private(set) var lastFault: BufferFault?
    var pointer = CastPointer()

    /// A picture that was taken, and whose buffer is still needed.
    var taken: ReceivedPicture?

    /// A picture in a buffer.
    struct ReceivedPicture {
        var buffer: UnsafeMutablePointer<pw_buffer>
        var memory: BufferMemory
        var order: CastFormat.Order
        var layout: BufferLayout

        /// The size of the visible part.
        var size: PictureSize { layout.visible.size }
    }

    private let connection: PipeWireConnection
    private var stream: OpaquePointer?
    /// WirePlumber 0.4 ends the streams of a node that is removed, but 0.5 leaves them paused.
    private var nodeWatch: RegistryWatch?
    private let events = UnsafeMutablePointer<pw_stream_events>.allocate(capacity: 1)
    private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)
    private let onWarning: (String) -> Void
    /// The format that was agreed on; nil until then, and while it changes.
    private(set) var format: CastFormat?
    private var memories: [UnsafeMutablePointer<pw_buffer>: Result<BufferMemory, BufferFault>] = [:]
    var sentTimes = SentTimes<UnsafeMutablePointer<pw_buffer>>()
    var damage = PendingDamage()
    private var faults = 0

    /// A fault may come with each picture, so the number of warnings is limited.
    private static let maxWarnings = 10
    /// How long after a picture a look shows whether the next ones were lost.
    private static let lookDelay = Interval.milliseconds(100)

    /// Connects to `node`.
    ///
    /// - Throws: `library`, or `stream` if PipeWire refuses at once.
    init(
        _ connection: PipeWireConnection, node: UInt32, _ request: CastRequest, onWarning: @escaping (String) -> Void
    ) throws(CastError) {
        self.connection = connection
        self.onWarning = onWarning
        events.initialize(to: pw_stream_events())
        hook.initialize(to: spa_hook())
        // The stream owns the properties.
        let properties = pw_properties_new_string(
            "media.type = Video, media.category = Capture, media.role = Screen")
        stream = pw_stream_new(connection.core, "ScreenRelay", properties)
        guard let stream else { throw .library(call: "pw_stream_new", code: errno) }
        listen(stream)
        let code = request.connect(stream, to: node)
        if code < 0 { throw .stream(Self.text(of: code)) }
        nodeWatch = try RegistryWatch(connection, onRemoval: { [weak self] in if $0 == node { self?.end() } })
    }

    deinit {
        close()
        events.deallocate()
        hook.deallocate()
    }

    /// Ends the stream. Idempotent.
    func close() {
        guard let stream else { return }
        self.stream = nil
        nodeWatch = nil
        (newest, taken) = (nil, nil)
        (isPictureMissing, nextLook) = (false, nil)
        // Its memory belongs to libpipewire.
        (memories, sentTimes) = ([:], SentTimes())
        spa_hook_remove(hook)
        pw_stream_destroy(stream)
    }

    /// Whether the sender is to send pictures; true at first.
    private(set) var isActive = true

    /// Has the sender send pictures or not. Pictures that still arrive once it is to send none go back unused, because
    /// they will be old; of their buffers, only the pointer is read.
    func setActive(_ isActive: Bool) {
        guard stream != nil, isActive != self.isActive else { return }
        self.isActive = isActive
        if let picture = newest {
            newest = nil
            paintedAt = nil
            giveBack(picture.buffer)
        }
        if !isActive { for memory in memories.values { try? memory.get().release() } }
        setPaused(!isActive)
        (isPictureMissing, nextLook) = (isActive, nil)
    }

    /// Whether the sender was told to pause.
    private(set) var isPaused = false

    /// Has the sender pause, or go on and send a picture. What arrives during the pause is used.
    func setPaused(_ isPaused: Bool) {
        guard let stream else { return }
        self.isPaused = isPaused
        if !isPaused { isPictureMissing = true }
        // The sender doesn't report what changes during a pause.
        damage.addAll()
        let code = pw_stream_set_active(stream, !isPaused)
        if code < 0 { failure = failure ?? .stream(Self.text(of: code)) }
    }

    /// How far the stream is, in PipeWire's words.
    var state: String {
        guard let stream else { return "closed" }
        let name = String(cString: pw_stream_state_as_string(pw_stream_get_state(stream, nil)))
        return format == nil ? "\(name), and no format was agreed on" : name
    }

    func giveBack(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        if let stream { pw_stream_queue_buffer(stream, buffer) }
    }

    func report(_ fault: BufferFault) {
        faults += 1
        if faults <= Self.maxWarnings { onWarning("what the desktop sends can't be used: \(fault)") }
    }

    // MARK: - Events

    private func listen(_ stream: OpaquePointer) {
        events.pointee.version = UInt32(PW_VERSION_STREAM_EVENTS)
        events.pointee.state_changed = { context, _, state, text in CastStream.of(context)?.stateChanged(state, text) }
        events.pointee.param_changed = { context, id, param in CastStream.of(context)?.parameterChanged(id, param) }
        events.pointee.add_buffer = { context, buffer in CastStream.of(context)?.bufferAdded(buffer) }
        events.pointee.remove_buffer = { context, buffer in CastStream.of(context)?.bufferRemoved(buffer) }
        events.pointee.process = { context in CastStream.of(context)?.process() }
        pw_stream_add_listener(stream, hook, events, Unmanaged.passUnretained(self).toOpaque())
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> CastStream? {
        context.map { Unmanaged<CastStream>.fromOpaque($0).takeUnretainedValue() }
    }

    private func stateChanged(_ state: pw_stream_state, _ text: UnsafePointer<CChar>?) {
        let text = text.map { String(cString: $0) }
        if state == PW_STREAM_STATE_ERROR {
            failure = failure ?? CastError(text: text ?? "unknown")
        } else if state == PW_STREAM_STATE_UNCONNECTED {
            // libpipewire gives a reason only if the connection is gone.
            if let text { failure = failure ?? .disconnected(text) }
            end()
        }
    }

    private func end() { failure = failure ?? .ended }

    private func parameterChanged(_ id: UInt32, _ param: UnsafePointer<spa_pod>?) {
        guard id == SPA_PARAM_Format.rawValue, let stream else { return }
        format = nil
        // Without a format, the stream pauses until there is another.
        guard let param else { return }
        var read = shim_video_format()
        var code = shim_read_format(param, &read)
        if code >= 0 {
            do throws(BufferFault) {
                if read.is_of_card { throw .unsupportedMemory(BufferFault.dmaBuf) }
                format = try CastFormat(read.format, width: read.width, height: read.height)
            } catch {
                failure = failure ?? .format(error.description)
                return
            }
            code = shim_pw_stream_accept(stream)
        }
        if code < 0 { failure = failure ?? .stream(Self.text(of: code)) }
    }

    private func bufferAdded(_ buffer: UnsafeMutablePointer<pw_buffer>?) {
        guard let buffer else { return }
        sentTimes.add(buffer, Self.contents(of: buffer))
        do throws(BufferFault) {
            memories[buffer] = try .success(Self.memory(of: buffer))
        } catch {
            // It is reported with the first picture in it.
            memories[buffer] = .failure(error)
        }
    }

    private func bufferRemoved(_ buffer: UnsafeMutablePointer<pw_buffer>?) {
        guard let buffer else { return }
        if newest?.buffer == buffer {
            newest = nil
            paintedAt = nil
            (isPictureMissing, nextLook) = (isActive, nil)
        }
        memories[buffer] = nil
        sentTimes.remove(buffer)
    }

    // MARK: - Pictures

    private func process() {
        guard let stream else { return }
        while let buffer = pw_stream_dequeue_buffer(stream) {
            if sentTimes.arrive(buffer, contents: Self.contents), isActive {
                // What it would have changed isn't known.
                damage.addAll()
                (isPictureMissing, hasLost) = (true, true)
            }
            // Even if the picture isn't used: a compositor tells each shape of the pointer only once.
            if let content = buffer.pointee.buffer { followPointer(Self.metadata(SPA_META_Cursor, of: content)) }
            guard isActive else {
                giveBack(buffer)
                continue
            }
            do throws(BufferFault) {
                if let picture = try picture(in: buffer) {
                    if let newest { giveBack(newest.buffer) }
                    newest = picture
                    isPictureMissing = false
                    nextLook = .now() + Self.lookDelay
                    continue
                }
            } catch {
                lastFault = error
                report(error)
                damage.addAll()
            }
            giveBack(buffer)
        }
    }

    /// Reads the other metadata of a buffer, and returns the picture in it; nil if it brings only the pointer.
    private func picture(in buffer: UnsafeMutablePointer<pw_buffer>) throws(BufferFault) -> ReceivedPicture? {
        guard let content = buffer.pointee.buffer, content.pointee.n_datas > 0,
            let chunk = content.pointee.datas?.pointee.chunk?.pointee, let format
        else { throw .noMemory }
        let header = BufferMetadata.header(Self.metadata(SPA_META_Header, of: content))
        if let header, header.flags & shim_header_corrupted != 0 {
            // A picture is lost, and its damage with it.
            damage.addAll()
            return nil
        }
        if !Self.hasPicture(buffer) { return nil }
        let transform = try PictureTransform(
            BufferMetadata.transform(Self.metadata(SPA_META_VideoTransform, of: content)))
        let memory: BufferMemory
        switch memories[buffer] {
        case .success(let mapped)?: memory = mapped
        case .failure(let fault)?: throw fault
        case nil: throw .noMemory
        }
        let layout = try BufferLayout(
            BufferLayout.Chunk(offset: chunk.offset, size: chunk.size, stride: chunk.stride), memory: memory.count,
            format: format, crop: BufferMetadata.crop(Self.metadata(SPA_META_VideoCrop, of: content)),
            transform: transform)
        // The pointer's place is told in pixels of this part.
        if layout.visible != visible { pointer.hasNews = true }
        visible = layout.visible
        let told = BufferMetadata.damage(Self.metadata(SPA_META_VideoDamage, of: content))
        damage.add(
            told.map { transform.upright($0, in: format.size) }, visible: layout.visible, transform: transform)
        // A picture that was put off counts as unchanged.
        if putOffUntil != nil { paintedAt = nil }
        paintedAt = paintedAt ?? Self.painted(header)
        return ReceivedPicture(buffer: buffer, memory: memory, order: format.order, layout: layout)
    }

    private func followPointer(_ bytes: UnsafeRawBufferPointer) {
        do throws(BufferFault) {
            if let report = try CursorReport.read(bytes) { pointer.update(report) }
        } catch {
            report(error)
        }
    }
}
