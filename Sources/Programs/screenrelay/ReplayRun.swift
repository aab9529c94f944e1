import CLinux
import CaptureLink
import CommandLine
import Glibc
import LinkTransport
import MediaTypes
import Replaying
import Threading

/// One replay: takes a recording's messages, waits until each is due, and gives them to the host.
final class ReplayRun {
    /// How the recording is to be sent.
    struct Options {
        var speed = ReplaySpeed.recorded
        /// How far pictures are apart where the recording has no times, and one pass from the next.
        var period = Interval.seconds(1) / 30
        var loops = false
        /// The picture before which it stands still, counted from 1.
        var pauseAt: UInt64?
        /// Where each pass begins; nil: at the beginning.
        var start: ReplayStart?
    }

    /// How it ended.
    enum End {
        case done
        case stopped
        /// The host takes no more.
        case linkLost(ReplayOutlet.Ending)
    }

    private let file: ReplayFile
    private let outlet: ReplayOutlet
    private let signals: ReplaySignals
    private let options: Options
    private var script: ReplayScript
    private var pace: ReplayPace
    private var progress: ReplayProgress
    /// The next step, not yet sent.
    private var step: ReplayStep?
    private var hasEnded = false
    private var hasBegun = false
    private var isPassOver = false
    private var beginsPass = false
    private var lastDue = MonotonicTime.zero
    /// A person wants it to stand still before the next picture.
    private var isPauseWanted = false
    private var isPaused = false
    /// The picture before which it stood still last.
    private var passedPause: UInt64?
    private var hasReachedPause = false
    /// The first picture that was sent, counted from the recording's beginning.
    private var firstPicture: UInt64?
    private var pictures: UInt64 = 0
    private var began = MonotonicTime.zero
    private var took = Interval.zero

    /// How long a host may take to say hello.
    private static let patience = Interval.seconds(5)
    /// How long a host may take to read what was written last.
    private static let lastPatience = Interval.seconds(10)
    /// How long a host may take to take us, at the recorded pace.
    private static let lead = Interval.milliseconds(50)
    /// How long it may go on without looking up where nothing has to wait.
    private static let turn = Interval.milliseconds(50)

    init(_ file: ReplayFile, to connection: LinkConnection, token: LinkToken?, options: Options, signals: ReplaySignals)
    {
        self.file = file
        self.options = options
        self.signals = signals
        outlet = ReplayOutlet(connection, token: token)
        script = ReplayScript(period: options.period, start: options.start)
        pace = ReplayPace(options.speed)
        progress = ReplayProgress()
    }

    /// Sends it all, or until told to stop.
    func run() -> End {
        signals.waits = false
        isPauseWanted = signals.isPauseWanted
        began = monotonicNow()
        var end = play()
        switch end {
        case .done:
            outlet.finish(.endOfRecording, "the recording is at its end", within: Self.lastPatience)
            // A short recording is written before the host has said that it won't have it.
            if let ending = outlet.ending, ending.reason != nil { end = .linkLost(ending) }
        case .stopped: outlet.finish(.stopped, "the replay was told to stop", within: Self.lastPatience)
        case .linkLost: break
        }
        took = monotonicNow() - began
        progress.clear()
        return end
    }

    /// Why it has not stood still where it should have; nil where it has.
    var missedPause: String? {
        guard let picture = options.pauseAt, !hasReachedPause else { return nil }
        var reason = "the recording has \(counted(script.pictures, "picture"))"
        if let firstPicture, picture < firstPicture { reason = "--from begins with picture \(firstPicture)" }
        return "--pause-at \(picture) was not reached: \(reason)"
    }

    /// What was sent, for people.
    var summary: String {
        "Sent \(counted(outlet.messages, "message")), \(counted(outlet.bytes, "byte")), \(counted(pictures, "picture")) "
            + "in \(Double(took.milliseconds) / 1000) s."
    }

    private func play() -> End {
        let deadline = began + Self.patience
        while !outlet.isGreeted {
            if let ending = outlet.ending { return .linkLost(ending) }
            if monotonicNow() >= deadline {
                return .linkLost(ReplayOutlet.Ending(words: "what listens there says no hello: it is no host of ours"))
            }
            if wait(until: deadline) { return .stopped }
        }
        do throws(LinkTransportError) {
            try outlet.greet(tellsPointer: file.tellsPointer)
            script.beginPass(UInt64.random(in: 1 ... .max))
            while true {
                if let ending = outlet.ending { return .linkLost(ending) }
                var due = MonotonicTime.distantFuture
                if !outlet.isBlocked, !isPaused {
                    due = try sendDue()
                    if step == nil, hasEnded, !outlet.isBlocked { return .done }
                }
                progress.show(monotonicNow(), at: script.lastTime, pictures, outlet.bytes)
                if wait(until: due) { return .stopped }
                if outlet.isBlocked { try outlet.flush() }
            }
        } catch {
            // The host says why before it closes.
            outlet.receive()
            return .linkLost(outlet.ending ?? ReplayOutlet.Ending(words: "\(error)"))
        }
    }

    /// Sends all that is due now in as few writes as it takes; gives when there is more to do.
    private func sendDue() throws(LinkTransportError) -> MonotonicTime {
        let turnEnd = monotonicNow() + Self.turn
        while let next = nextStep() {
            let now = monotonicNow()
            if !hasBegun {
                hasBegun = true
                // A host that is still busy with who we are would take the first picture late, and all others early.
                pace.begin(next.time, at: now + min(Self.lead, pace.length(of: Self.lead)))
            }
            if beginsPass {
                beginsPass = false
                passedPause = nil
                // From when the last one was due, so that a hundred passes take a hundred times as long as one.
                pace.begin(next.time, at: lastDue + pace.length(of: options.period))
            }
            let due = pace.due(next.time, now: now)
            if due > now {
                try outlet.write()
                return due
            }
            if let picture = next.picture, picture != passedPause, isPauseWanted || picture == options.pauseAt {
                try outlet.write()
                pause(before: picture)
                return .distantFuture
            }
            step = nil
            lastDue = due
            if let picture = next.picture {
                pictures &+= 1
                if firstPicture == nil { firstPicture = picture }
            }
            try outlet.send(next)
            if outlet.isBlocked { return .distantFuture }
            if now >= turnEnd { break }
        }
        try outlet.write()
        return file.isPending ? .distantFuture : .zero
    }

    /// The next message to send; from the recording's beginning again where it loops. Nil at its end, and where the file is
    /// pending.
    private func nextStep() -> ReplayStep? {
        while step == nil, !hasEnded {
            step = script.next()
            if step != nil { break }
            if isPassOver {
                beginNextPass()
            } else if let item = file.next() {
                script.take(item)
            } else if file.isPending {
                return nil
            } else {
                script.endPass()
                isPassOver = true
            }
        }
        return step
    }

    private func beginNextPass() {
        // A recording without a picture would be read again and again, and nothing be sent.
        guard options.loops, script.pictures > 0, file.rewind() else {
            hasEnded = true
            return
        }
        script.beginPass(UInt64.random(in: 1 ... .max))
        isPassOver = false
        beginsPass = true
    }

    // MARK: Standing still

    private func pause(before picture: UInt64) {
        isPauseWanted = false
        isPaused = true
        passedPause = picture
        if picture == options.pauseAt { hasReachedPause = true }
        progress.clear()
        let line = signals.hasInput ? "Enter or " : ""
        StandardStreams.print("Paused before picture \(picture). \(line)SIGUSR1 (kill -USR1 \(getpid())) goes on.\n")
    }

    private func goOn() {
        isPaused = false
        // What was late then is no longer due then.
        if let step { pace.begin(step.time, at: monotonicNow()) }
    }

    // MARK: Waiting

    /// Whether it is the recording that has to go on first: one that comes by a pipe.
    private var waitsForFile: Bool { file.isPending && step == nil && !outlet.isBlocked && !isPaused }

    /// Sleeps until something happens or is due, and hears what was said; true where the replay shall end.
    private func wait(until due: MonotonicTime) -> Bool {
        let events = outlet.isBlocked ? POLLIN | POLLOUT : POLLIN
        var entries = [
            pollfd(fd: outlet.descriptor, events: Int16(events), revents: 0),
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isPaused && signals.hasInput ? 0 : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: waitsForFile ? file.descriptor : -1, events: Int16(POLLIN), revents: 0),
        ]
        entries.withUnsafeMutableBufferPointer { entries in
            guard let base = entries.baseAddress else { return }
            waitForEvents(base, count: entries.count, until: due)
        }
        if Int32(entries[0].revents) & ~POLLOUT != 0 { outlet.receive() }
        if entries[2].revents != 0, signals.takeLine(), isPaused { goOn() }
        while let word = signals.next() {
            switch word {
            case .end: return true
            case .toggle: if isPaused { goOn() } else { isPauseWanted.toggle() }
            }
        }
        return false
    }
}
