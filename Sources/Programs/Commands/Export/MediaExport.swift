import ByteCoding
import CommandLine
import Exporting
import Glibc
import MediaFiles
import MediaTypes

/// Writes `.mp4` and `.mkv` in two passes: the first plans which picture and which sound goes into which file, the
/// second writes them.
enum MediaExport {
    static func run(
        _ source: ExportSource, _ container: MediaContainer, to target: ExportTarget
    ) throws(ExportError) -> [String] {
        source.isPaced = true
        var plan = ExportPlan(from: source.selection.from, to: source.selection.to)
        try source.pictures(
            { picture throws(ExportError) in
                plan.add(picture)
                return true
            },
            sound: { sound throws(ExportError) in
                plan.add(sound)
                return true
            })
        try source.checkBeginning()
        if plan.leftOut > 0 {
            source.tell("\(plan.leftOut) pictures are left out after the \(plan.parts.count)th change of size")
        }
        guard plan.count > 0 else {
            source.tellRemarks()
            throw .nothing(path: source.path, reason: "no picture in it can be exported")
        }
        try target.checkFree(plan.parts.count)
        source.tellBeginning(of: plan)
        tellParts(plan, source, target)
        let files = MediaExportFiles(plan, container, target)
        do throws(ExportError) {
            var pass = ExportPass(plan)
            try source.pictures(
                { (picture: consuming TimedPictures.Picture) throws(ExportError) in
                    // In two statements, because a consumed value lives to the end of its statement.
                    let ready = pass.add(consume picture)
                    try files.write(consume ready)
                    return !pass.isDone || !files.hasAllSound
                },
                sound: { sound throws(ExportError) in
                    try files.write(sound)
                    return !pass.isDone || !files.hasAllSound
                })
            try files.write(pass.finish())
            try files.finish()
        } catch {
            files.discard()
            throw error
        }
        return plan.parts.enumerated().map { index, part in
            let seconds = DecimalText.seconds(part.end - part.start)
            let sound = part.soundChannels > 0 ? ", \(DecimalText.seconds(files.soundLengths[index])) s of sound" : ""
            return
                "\(target.name(index)): \(counted(files.counts[index], "picture")) of \(part.format.size), \(seconds) s"
                + sound
        }
    }

    private static func tellParts(_ plan: ExportPlan, _ source: ExportSource, _ target: ExportTarget) {
        for (index, part) in plan.parts.enumerated().dropFirst() {
            source.tell(
                "from \(DecimalText.seconds(part.start)) s on, the pictures have another size or colour format "
                    + "(\(part.format.size)) and go to '\(target.name(index))'")
        }
    }
}

/// The files of one export. They are written one after the other, and renamed when all are complete.
private final class MediaExportFiles {
    private let plan: ExportPlan
    private let container: MediaContainer
    private let target: ExportTarget
    private var writer: MediaFileWriter?
    private var begun = 0
    /// The number of pictures written to each part.
    private(set) var counts: [Int]
    /// The length of the recording's sound in each part.
    private(set) var soundLengths: [Interval]
    private var sound: AudioPass

    init(_ plan: ExportPlan, _ container: MediaContainer, _ target: ExportTarget) {
        self.plan = plan
        self.container = container
        self.target = target
        counts = plan.parts.map { _ in 0 }
        soundLengths = plan.parts.map { _ in .zero }
        sound = AudioPass(plan)
    }

    /// Whether all sound of the files has been taken.
    var hasAllSound: Bool { sound.isDone }

    /// Releases each picture as it is written, so that a large one isn't in memory twice.
    func write(_ pictures: consuming [ExportPass.Picture]) throws(ExportError) {
        var rest = Array(pictures.reversed())
        pictures = []
        while let picture = rest.popLast() { try write(consume picture) }
    }

    private func write(_ picture: consuming ExportPass.Picture) throws(ExportError) {
        if ExportInterruption.isAsked { throw .interrupted(target.path) }
        sound.reach(part: picture.part, decodingTime: picture.decodingTime)
        try writeSound()
        while begun <= picture.part { try begin() }
        counts[picture.part] += 1
        do throws(MediaFileError) {
            try writer?.write(Self.packet(consume picture))
        } catch {
            throw failure(error)
        }
    }

    /// Takes a packet of sound, which is written before the pictures that are later.
    func write(_ packet: TimedAudio) throws(ExportError) {
        sound.add(packet)
        try writeSound()
    }

    /// Writes the sound that belongs before the next picture.
    private func writeSound() throws(ExportError) {
        while let packet = sound.next() {
            if ExportInterruption.isAsked { throw .interrupted(target.path) }
            if !packet.isSilence { soundLengths[packet.part] = soundLengths[packet.part] + packet.duration }
            try attempt { () throws(MediaFileError) in
                try writer?.write(sound: packet.bytes, at: packet.time, for: packet.duration)
            }
        }
    }

    private static func packet(_ picture: consuming ExportPass.Picture) -> MediaPacket {
        MediaPacket(
            frame: picture.frame, decodingTime: picture.decodingTime,
            presentationTime: picture.presentationTime)
    }

    func finish() throws(ExportError) {
        sound.finish()
        try writeSound()
        try attempt { () throws(MediaFileError) in try writer?.finish() }
        writer = nil
        for index in 0..<begun { try target.commit(index) }
    }

    func discard() {
        writer = nil
        for index in 0..<begun { target.discard(index) }
    }

    private func begin() throws(ExportError) {
        try attempt { () throws(MediaFileError) in try writer?.finish() }
        writer = nil
        let part = plan.parts[begun]
        let index = begun
        begun += 1
        close(try target.create(index))
        let track = MediaTrack(
            format: part.format, headers: part.headers, changesHeaders: part.changesHeaders,
            maxStep: part.maxStep, lastDuration: part.lastStep)
        var made: MediaFileWriter?
        try attempt { () throws(MediaFileError) in
            made = try MediaFileWriter(
                path: target.temporaryName(index), container: container, track: track,
                soundChannels: part.soundChannels)
        }
        writer = made
    }

    private func attempt(_ work: () throws(MediaFileError) -> Void) throws(ExportError) {
        do throws(MediaFileError) {
            try work()
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: MediaFileError) -> ExportError {
        let name = target.name(max(0, begun - 1))
        return switch error {
        case .diskFull: .diskFull(name)
        case .permissionDenied: .cannotCreate(name, reason: "\(error)", isPermission: true)
        case .nameInUse, .outOfMemory, .rejected: .writing(name, reason: "\(error)")
        }
    }
}
