import CLinux
import Clocks
import Glibc
import Ingest
import LinkTransport
import MediaTypes
import Processes
import Threading

/// One run of a capture process. Notices when it ends or hangs, and ends it if it uses too much memory.
///
/// Belongs to the supervisor's thread.
final class SupervisedCapture {
    /// How long the capture may take from its start to its first message, unless it waits for the user.
    private static let startTimeout = Interval.seconds(10)
    /// How long a capture that hangs has between SIGABRT, which leaves a trace for its developer, and SIGKILL.
    private static let abortTimeout = Interval.seconds(1)
    /// How often the memory is checked while it grows, and while it has stayed the same for long: each look wakes the
    /// host, whose screen may stand still for hours.
    private static let (lookPeriod, maxPeriod) = (Interval.milliseconds(500), Interval.seconds(2))
    /// x264 reserves four to five times what it keeps, and crashes if that is refused: this backstop is far above.
    private static let addressSpace = (least: UInt64(4) << 30, forOneByte: UInt64(16))

    let child: ChildProcess
    /// Whether the capture has become the track's source.
    private(set) var hasArrived = false

    private let name: String
    private let memory: CaptureMemory
    private let mayWaitForUser: Bool
    private let group: MemoryGroup?
    private let killsBefore: Int
    private let watcher: LinkWatcher
    /// The events from the link's thread.
    private let news: Mailbox<LinkWatcher.Event>
    private let wake: EventFD
    private let log: EventLog
    private let isNews: Bool
    private var largest: PictureSize?
    private var lastLook: MonotonicTime
    private var period = SupervisedCapture.lookPeriod
    private var lastPeak: UInt64?
    /// The time without a first message. Each interval between checks counts at most twice `lookPeriod`, so that a host
    /// that was itself stopped for a while doesn't blame its capture.
    private var waited = Interval.zero
    /// When SIGKILL is sent next. Nil while nothing is wrong.
    private var killsAt: MonotonicTime?

    /// Starts `launch`, whose link is at `linkDescriptor`. `name` is what log lines call it; one that isn't news is
    /// only for developers.
    init(
        _ launch: Launch, name: String, linkDescriptor: Int32, isNews: Bool, confinement: CaptureConfinement,
        group: MemoryGroup?, link: LinkServer, wake: EventFD, log: EventLog
    ) throws {
        let news = Mailbox<LinkWatcher.Event>(wake: wake)
        watcher = LinkWatcher { event in
            // A capture may flood us with sizes; only the last ones matter.
            news.post(event) { if $0.count >= 64 { $0.removeFirst() } }
        }
        let pair = try LinkSocketPair()
        defer { pair.closeChild() }
        var launch = launch
        launch.descriptors[linkDescriptor] = pair.childDescriptor
        let credentials = confinement.apply(to: &launch)
        defer { if credentials >= 0 { close(credentials) } }
        child = try ChildProcess(launch)
        self.name = name
        self.news = news
        self.wake = wake
        self.log = log
        self.isNews = isNews
        self.group = group
        memory = confinement.memory
        mayWaitForUser = confinement.resource == .desktop
        killsBefore = group?.kills ?? 0
        lastLook = MonotonicTime.now()
        // Our end of the pair lives on in the link's thread under another descriptor.
        let ours = fcntl(pair.connection.descriptor, F_DUPFD_CLOEXEC, 3)
        if ours >= 0 { link.adopt(descriptor: ours, watcher: watcher) }
        log.write(isNews ? .info : .debug, "\(name) is process \(child.processID)")
        if let ceiling = memory.highestCeiling { bound(to: ceiling) }
    }

    private func bound(to ceiling: UInt64) {
        if let group {
            group.setCeiling(ceiling)
            if !group.take(child.processID) { log.debug("\(name) can't be moved into \(group.path)") }
        }
        let (space, overflow) = ceiling.multipliedReportingOverflow(by: Self.addressSpace.forOneByte)
        if !overflow {
            _ = shim_limit_address_space(child.processID, max(space, Self.addressSpace.least))
        }
    }

    /// Waits until the capture ends. Returns nil if `isStopped` was true; the capture has then been ended.
    func waitForEnd(isStopped: () -> Bool) -> ProcessStatus? {
        let process = shim_pidfd_open(child.processID)
        defer { if process >= 0 { close(process) } }
        while true {
            if isStopped() {
                child.stop(within: .seconds(1))
                return nil
            }
            if let status = child.poll() {
                // Events from before its end.
                for event in news.take() where event == .arrived { hasArrived = true }
                if let group, group.kills > killsBefore {
                    log.warning("the kernel has killed \(name) at its memory limit (\(group.path)/memory.max)")
                }
                return status
            }
            look()
            var entries = [
                pollfd(process),
                pollfd(wake.descriptor),
            ]
            waitForEvents(&entries, until: nextLook(hasDescriptor: process >= 0))
            wake.consume()
        }
    }

    private func nextLook(hasDescriptor: Bool) -> MonotonicTime {
        // Without pidfd_open, poll more often.
        if !hasDescriptor { return MonotonicTime.now() + .milliseconds(50) }
        if let killsAt { return killsAt }
        let isWatched = !hasArrived || memory != .unlimited
        return isWatched ? lastLook + period : .distantFuture
    }

    private func look() {
        let now = MonotonicTime.now()
        for event in news.take() { take(event, now) }
        if let killsAt {
            if now >= killsAt {
                child.terminate(SIGKILL)
                // If even that doesn't help at once, don't check all the time.
                self.killsAt = now + Self.abortTimeout
            }
            return
        }
        if now - lastLook < period { return }
        waited = waited + min(now - lastLook, Self.lookPeriod + Self.lookPeriod)
        lastLook = now
        if !hasArrived, !mayWaitForUser, waited > Self.startTimeout {
            end(because: "it did not start within \(Self.startTimeout.milliseconds / 1000) s", SIGABRT, now)
        }
        guard let ceiling = memory.ceiling(for: largest), let taken = peakMemory else { return }
        period = hasArrived && taken == lastPeak ? min(period + period, Self.maxPeriod) : Self.lookPeriod
        lastPeak = taken
        guard taken > ceiling else { return }
        end(because: "it took \(taken / 1_000_000) MB of memory; the limit is \(ceiling / 1_000_000) MB", SIGKILL, now)
    }

    private func take(_ event: LinkWatcher.Event, _ now: MonotonicTime) {
        switch event {
        case .arrived:
            if !isNews, !hasArrived { log.warning("\(name) continues: its source is back") }
            hasArrived = true
        case .size(let size):
            // The peak memory still includes the largest picture so far.
            if size.width * size.height > largest.map({ $0.width * $0.height }) ?? 0 { largest = size }
            if let ceiling = memory.ceiling(for: largest) { group?.setCeiling(ceiling) }
        case .silent(let time):
            end(because: "it has not responded for \(time.milliseconds / 1000) s", SIGABRT, now)
        }
    }

    private func end(because reason: String, _ signal: Int32, _ now: MonotonicTime) {
        guard killsAt == nil else { return }
        log.warning("ending \(name): \(reason)")
        watcher.explainEnd("\(name) was ended: \(reason)")
        child.terminate(signal)
        killsAt = now + Self.abortTimeout
    }

    /// The highest resident memory so far (VmHWM of proc(5)), in bytes.
    private var peakMemory: UInt64? {
        let text = MemoryGroup.read("/proc/\(child.processID)/status")
        let line = text?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let number = line?.split { $0 == " " || $0 == "\t" }.dropFirst().first
        return number.flatMap { UInt64($0) }.map { $0 * 1024 }
    }
}
