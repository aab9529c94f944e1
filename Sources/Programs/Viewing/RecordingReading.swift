import Clocks
import CommandLine
import Exporting
import MediaTypes
import Opus
import RecordingFiles
import Replaying
import RoomConnections
import Threading

/// Reads the pictures and the sound of a recording at the recorded pace, on a thread of its own.
final class RecordingReading: ViewConnection {
    let inbox: Mailbox<ViewEvent>
    private let stop: Stop
    private let thread: NamedThread

    /// The frame rate of files without times.
    private static let framesPerSecond = 30

    /// Ends the thread, which may wait until the next picture is due.
    private final class Stop: Sendable {
        let flag = Flag()
        let wake: EventFD

        init?() {
            guard let wake = EventFD() else { return nil }
            self.wake = wake
        }

        func set() {
            flag.set()
            wake.signal()
        }

        /// Returns true at `time`, or false if the thread is to end.
        func wait(until time: MonotonicTime) -> Bool {
            while !flag.isSet, MonotonicTime.now() < time { wake.wait(until: time) }
            return !flag.isSet
        }
    }

    /// Begins to read. Throws if the system has no thread or descriptor left.
    init(_ path: String) throws(ViewEnd) {
        guard let inbox = Mailbox<ViewEvent>(), let stop = Stop() else { throw .noResources }
        let started = NamedThread("recording", blocksSignals: true) {
            inbox.post(.ended(Self.read(path, until: stop, into: inbox)))
        }
        guard let thread = started else { throw .noResources }
        self.inbox = inbox
        self.stop = stop
        self.thread = thread
    }

    deinit { stop.set() }

    private static func read(_ path: String, until stop: Stop, into inbox: Mailbox<ViewEvent>) -> ViewEnd {
        var pictures = TimedPictures(framesPerSecond: framesPerSecond)
        var pace = ReplayPace(.recorded)
        var damage: String?
        do throws(RecordingFileError) {
            let file = try RecordedFile(path: path)
            inbox.post(.connected)
            while !stop.flag.isSet {
                if let item = try file.next() {
                    pictures.add(item)
                } else if let fault = file.fault {
                    damage = damage ?? "'\(path)': \(fault)"
                    pictures.damaged()
                    file.resumeAfterDamage()
                } else {
                    break
                }
                pass(&pictures, &pace, until: stop, into: inbox)
            }
            pictures.finish()
            pass(&pictures, &pace, until: stop, into: inbox)
        } catch {
            return ViewEnd("\(error)", ExitCode(error.kind), mayPass: false)
        }
        return damage.map { ViewEnd($0, .badData, mayPass: false) } ?? .done
    }

    /// Passes on the pictures and the sound that are complete, each when it is due.
    private static func pass(
        _ pictures: inout TimedPictures, _ pace: inout ReplayPace, until stop: Stop, into inbox: Mailbox<ViewEvent>
    ) {
        while let picture = pictures.next(), stop.wait(until: pace.due(picture.time, now: .now())) {
            inbox.post(
                ReceivedFrame(coded: picture.frame.withoutCaptureTime, codec: picture.codec, arrival: .now()))
        }
        while let sound = pictures.nextSound(), stop.wait(until: pace.due(sound.time, now: .now())) {
            guard let frame = CodedFrame(opus: sound.packet, captureTime: nil) else { continue }
            inbox.post(ReceivedFrame(coded: frame, codec: .opus, arrival: .now()))
        }
    }

    func requestKeyFrame() {}

    func abandon() { stop.set() }

    func close() { stop.set() }
}
