import CLinux
import CaptureLink
import Clocks
import CommandLine
import Glibc
import LinkTransport
import MediaTypes
import Replaying
import Threading

/// One replay: reads a recording's messages, waits until each is due, and sends it to the host.
final class ReplayRun {
    /// How the recording is sent.
    struct Options {
        var speed = ReplaySpeed.recorded
        /// The time between pictures if the recording has no times, and between two passes.
        var period = Interval.seconds(1) / 30
        var loops = false
        /// The number of the picture before which the replay pauses, counted from 1.
        var pauseAt: UInt64?
        /// Where each pass begins, or nil for the start of the recording.
        var start: ReplayStart?
    }

    /// How the replay ended.
    enum End {
        case done
        case stopped
        /// The host takes no more messages.
        case linkLost(ReplayOutlet.Ending)
    }

    private let file: ReplayFile
    private let outlet: ReplayOutlet
    private let signals: ReplaySignals
    private let options: Options
    private var script: ReplayScript
    private var pace: ReplayPace
    private var progress: ReplayProgress
    /// The next step, which has not been sent yet.
    private var step: ReplayStep?
    private var hasEnded = false
    private var hasBegun = false
    private var isPassOver = false
    private var beginsPass = false
    private var lastDue = MonotonicTime.zero
    /// Whether a person asked for a pause before the next picture.
    private var isPauseWanted = false
    private var isPaused = false
    /// The picture before which the replay last paused.
    private var passedPause: UInt64?
    private var hasReachedPause = false
    /// The first picture that was sent, counted from the start of the recording.
    private var firstPicture: UInt64?
    private var pictures: UInt64 = 0
    private var began = MonotonicTime.zero
    private var took = Interval.zero

    /// How long the host may take to say hello.
    private static let timeout = Interval.seconds(5)
    /// How long the host may take to read the last messages.
    private static let lastTimeout = Interval.seconds(10)
    /// How long the host may take to admit the replay, at the recorded speed.
    private static let lead = Interval.milliseconds(50)
    /// How long messages are sent without checking for events while none has to wait.
    private static let turn = Interval.milliseconds(50)

    init(
        _ file: ReplayFile, to connection: SocketConnection, token: LinkToken?, options: Options, signals: ReplaySignals
    ) {
        self.file = file
        self.options = options
        self.signals = signals
        outlet = ReplayOutlet(connection, token: token)
        script = ReplayScript(period: options.period, start: options.start)
        pace = ReplayPace(options.speed)
        progress = ReplayProgress()
    }

    /// Sends everything, or until told to stop.
    func run() -> End {
        signals.waits = false
        isPauseWanted = signals.isPauseWanted
        began = MonotonicTime.now()
        var end = play()
        switch end {
        case .done:
            outlet.finish(.endOfRecording, "the recording has ended", within: Self.lastTimeout)
            // A short recording may be sent completely before the host refuses it.
            if let ending = outlet.ending, ending.reason != nil { end = .linkLost(ending) }
        case .stopped: outlet.finish(.stopped, "the replay was told to stop", within: Self.lastTimeout)
        case .linkLost: break
        }
        took = MonotonicTime.now() - began
        progress.clear()
        return end
    }

    /// Why the replay did not reach `--pause-at`. Nil if it did, or if none was given.
    var missedPause: String? {
        guard let picture = options.pauseAt, !hasReachedPause else { return nil }
        var reason = "the recording has \(counted(script.pictures, "picture"))"
        if let firstPicture, picture < firstPicture { reason = "--from begins with picture \(firstPicture)" }
        return "--pause-at \(picture) was not reached: \(reason)"
    }

    /// What was sent, in words.
    var summary: String {
        "Sent \(counted(outlet.messages, "message")), \(counted(outlet.bytes, "byte")), \(counted(pictures, "picture")) "
            + "in \(Double(took.milliseconds) / 1000) s."
    }

    private func play() -> End {
        let deadline = began + Self.timeout
        while !outlet.isGreeted {
            if let ending = outlet.ending { return .linkLost(ending) }
            if MonotonicTime.now() >= deadline {
                return .linkLost(ReplayOutlet.Ending(text: "what listens there does not answer as a screenrelay host"))
            }
            if wait(until: deadline) { return .stopped }
        }
        do throws(SocketError) {
            try outlet.greet(tellsPointer: file.tellsPointer)
            script.beginPass(UInt64.random(in: 1 ... .max))
            while true {
                if let ending = outlet.ending { return .linkLost(ending) }
                var due = MonotonicTime.distantFuture
                if !outlet.isBlocked, !isPaused {
                    due = try sendDue()
                    if step == nil, hasEnded, !outlet.isBlocked { return .done }
                }
                progress.show(MonotonicTime.now(), at: script.lastTime, pictures, outlet.bytes)
                if wait(until: due) { return .stopped }
                if outlet.isBlocked { try outlet.flush() }
            }
        } catch {
            // The host sends its reason before it closes.
            outlet.receive()
            return .linkLost(outlet.ending ?? ReplayOutlet.Ending(text: "\(error)"))
        }
    }

    /// Sends everything that is due now in as few writes as possible. Returns when there is more to do.
    private func sendDue() throws(SocketError) -> MonotonicTime {
        let turnEnd = MonotonicTime.now() + Self.turn
        while let next = nextStep() {
            let now = MonotonicTime.now()
            if !hasBegun {
                hasBegun = true
                // A host that is still admitting the replay would take the first picture late, and all others would
                // seem early.
                pace.begin(next.time, at: now + min(Self.lead, pace.length(of: Self.lead)))
            }
            if beginsPass {
                beginsPass = false
                passedPause = nil
                // Counted from when the last picture was due, so that a hundred passes take a hundred times as long as
                // one.
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

    /// The next message to send. After the end, starts over if the replay loops. Nil at the end of the replay, and
    /// while the file is pending.
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
        // Without this check, a recording without pictures would be read forever and nothing be sent.
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
        StandardStreams.print("Paused before picture \(picture). \(line)SIGUSR1 (kill -USR1 \(getpid())) continues.\n")
    }

    private func resume() {
        isPaused = false
        // Restart the pace, so that the time of the pause doesn't count as delay.
        if let step { pace.begin(step.time, at: MonotonicTime.now()) }
    }

    // MARK: Waiting

    /// Whether the replay waits for more data from a file that is a pipe.
    private var waitsForFile: Bool { file.isPending && step == nil && !outlet.isBlocked && !isPaused }

    /// Sleeps until something happens or is due, and handles signals and input. Returns true if the replay must end.
    private func wait(until due: MonotonicTime) -> Bool {
        let events = outlet.isBlocked ? POLLIN | POLLOUT : POLLIN
        var entries = [
            pollfd(outlet.descriptor, events),
            pollfd(signals.descriptor),
            pollfd(isPaused && signals.hasInput ? 0 : -1),
            pollfd(waitsForFile ? file.descriptor : -1),
        ]
        waitForEvents(&entries, until: due)
        if Int32(entries[0].revents) & ~POLLOUT != 0 { outlet.receive() }
        if entries[2].isReady, signals.takeLine(), isPaused { resume() }
        while let word = signals.next() {
            switch word {
            case .end: return true
            case .toggle: if isPaused { resume() } else { isPauseWanted.toggle() }
            }
        }
        return false
    }
}
