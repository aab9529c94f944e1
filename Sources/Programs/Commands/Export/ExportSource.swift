import ByteCoding
import CaptureLink
import CommandLine
import Exporting
import Glibc
import MediaTypes
import Recording
import RecordingFiles

/// The part of a file that is exported, and the frame rate for files without times.
struct ExportSelection {
    var from: Interval?
    /// `from` as the user wrote it.
    var fromWords = ""
    var to: Interval?
    var framesPerSecond: Int

    var isAll: Bool { from == nil && to == nil }
}

/// The file that is exported. It can be read several times from the start; faults are reported only once.
final class ExportSource {
    let selection: ExportSelection
    private let file: RecordedFile
    private var passes = 0
    private var remarks: [String] = []
    private var hasTimes = false
    /// Whether part of the file could not be read.
    private(set) var isDamaged = false
    /// The time of the last item or picture that was read, since the start of the recording.
    private(set) var lastTime = Interval.zero
    private let output: String
    private static let remarkLimit = 10

    /// - Parameter output: the file that is missing after an interruption, for the error message.
    init(path: String, _ selection: ExportSelection, output: String) throws(ExportError) {
        self.selection = selection
        self.output = output
        do {
            file = try RecordedFile(path: path, mayRead: ExportInterruption.mayRead)
        } catch {
            if case .interrupted = error { throw .interrupted(output) }
            throw .input(error)
        }
    }

    var path: String { file.path }

    /// Reads all items. `torn` is called if something is missing between two of them.
    func items(
        _ take: (consuming RecordedItem) throws(ExportError) -> Bool, torn: () -> Void = {}
    ) throws(ExportError) {
        do throws(RecordingFileError) {
            if passes > 0 { try file.seek(to: 0) }
        } catch {
            throw .input(error)
        }
        passes += 1
        var fault: RecordingError?
        while true {
            while let item = try next() {
                if let found = fault {
                    tell(found, until: item.offset)
                    fault = nil
                }
                if case .gap(let gap) = item.content {
                    tell(
                        "byte \(item.offset): \(counted(gap.messages, "message")) not recorded: the recorder could not keep up"
                    )
                }
                if let arrival = item.arrival {
                    hasTimes = true
                    lastTime = max(lastTime, arrival)
                }
                if case .message(let message, _) = item.content, message.header.captureTime != nil { hasTimes = true }
                if try !take(consume item) { return }
            }
            guard let found = file.fault else { break }
            torn()
            // Faults within damaged data belong to the same damage.
            if fault == nil { fault = found }
            file.resumeAfterDamage()
        }
        if let fault {
            isDamaged = true
            return tell("\(fault); everything intact before byte \(fault.offset) is exported")
        }
        if let missing = file.missingEnd { tell(missing) }
    }

    /// Reads all pictures, and the sound, with their times. `take` and `sound` return false when neither of them needs
    /// any more.
    func pictures(
        _ take: (consuming TimedPictures.Picture) throws(ExportError) -> Bool,
        sound takeSound: (TimedAudio) throws(ExportError) -> Bool = { _ in true }
    ) throws(ExportError) {
        var pictures = TimedPictures(framesPerSecond: selection.framesPerSecond)
        var isEnough = false
        try items(
            { (item: consuming RecordedItem) throws(ExportError) in
                pictures.add(consume item)
                while !isEnough, let picture = pictures.next() {
                    lastTime = max(lastTime, picture.time)
                    isEnough = try !take(consume picture)
                }
                while !isEnough, let sound = pictures.nextSound() { isEnough = try !takeSound(sound) }
                return !isEnough
            }, torn: { pictures.damaged() })
        if isEnough { return }
        pictures.finish()
        while let picture = pictures.next() {
            lastTime = max(lastTime, picture.time)
            if try !take(consume picture) { return }
        }
        while let sound = pictures.nextSound() { if try !takeSound(sound) { return } }
        if passes == 1, pictures.skipped > 0 {
            tell("\(counted(pictures.skipped, "picture")) left out, because pictures that they refer to are missing")
        }
    }

    /// Throws if the file, which was read once, ends before the requested start.
    func checkBeginning() throws(ExportError) {
        guard let from = selection.from, from > lastTime else { return }
        throw .fromBehindEnd(path: path, from: selection.fromWords, end: lastTime)
    }

    /// Adds a remark if the first part starts well before the requested time.
    func tellBeginning(of plan: ExportPlan) {
        guard let from = selection.from, let start = plan.parts.first?.start, from - start > .milliseconds(500) else {
            return
        }
        remarks.append("begins at \(DecimalText.seconds(start)) s, with the last key frame before --from")
    }

    /// Prints all remarks on standard error.
    func tellRemarks() {
        if !hasTimes, isPaced {
            remarks.append("it has no times: written at \(selection.framesPerSecond) fps (--fps)")
        }
        let shown = remarks.prefix(Self.remarkLimit)
        for remark in shown { StandardStreams.printError("\(path): \(remark)", program: Program.name) }
        if remarks.count > shown.count {
            StandardStreams.printError(
                "\(path): \(remarks.count - shown.count) more of this kind; 'screenrelay inspect' shows all",
                program: Program.name)
        }
    }

    /// Whether the written file has times.
    var isPaced = false

    func tell(_ remark: String) {
        // A second pass repeats the remarks.
        if passes <= 1, remarks.count < 1000 { remarks.append(remark) }
    }

    private func tell(_ fault: RecordingError, until offset: UInt64) {
        isDamaged = true
        tell("\(fault); \(offset &- fault.offset) bytes are left out")
    }

    private func next() throws(ExportError) -> RecordedItem? {
        do {
            return try file.next()
        } catch {
            if case .interrupted = error { throw .interrupted(output) }
            throw .input(error)
        }
    }
}
