import Exporting
import Glibc
import Inspection
import MediaFiles
import MediaTypes

/// Writes `.mp4` and `.mkv`: looks at all pictures once to see what goes into which file, then writes them.
enum MediaExport {
    static func run(
        _ source: ExportSource, _ container: MediaContainer, to target: ExportTarget
    ) throws(ExportError) -> [String] {
        source.isPaced = true
        var plan = ExportPlan(from: source.selection.from, to: source.selection.to)
        try source.pictures { picture throws(ExportError) in
            plan.add(picture)
            return true
        }
        try source.checkBeginning()
        if plan.leftOut > 0 {
            source.tell("\(plan.leftOut) pictures are left out behind the \(plan.parts.count)th change of size")
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
            try source.pictures { picture throws(ExportError) in
                for ready in pass.add(picture) { try files.write(ready) }
                return !pass.isDone
            }
            for ready in pass.finish() { try files.write(ready) }
            try files.finish()
        } catch {
            files.discard()
            throw error
        }
        return plan.parts.enumerated().map { index, part in
            let seconds = DecimalText.seconds(part.end - part.start)
            return "\(target.name(index)): \(files.counts[index]) pictures of \(part.size), \(seconds) s"
        }
    }

    private static func tellParts(_ plan: ExportPlan, _ source: ExportSource, _ target: ExportTarget) {
        for (index, part) in plan.parts.enumerated().dropFirst() {
            source.tell(
                "from \(DecimalText.seconds(part.start)) s the pictures are of another size or colour format "
                    + "(\(part.size)): they go to '\(target.name(index))'")
        }
    }
}

/// The files of one export: written one after the other, renamed when all are whole.
private final class MediaExportFiles {
    private let plan: ExportPlan
    private let container: MediaContainer
    private let target: ExportTarget
    private var writer: MediaFileWriter?
    private var begun = 0
    /// Pictures written, by part.
    private(set) var counts: [Int]

    init(_ plan: ExportPlan, _ container: MediaContainer, _ target: ExportTarget) {
        self.plan = plan
        self.container = container
        self.target = target
        counts = plan.parts.map { _ in 0 }
    }

    func write(_ picture: ExportPass.Picture) throws(ExportError) {
        if ExportInterruption.isAsked { throw .interrupted(target.path) }
        while begun <= picture.part { try begin() }
        counts[picture.part] += 1
        try attempt { () throws(MediaFileError) in
            try writer?.write(
                MediaPacket(
                    accessUnit: picture.accessUnit, decodingTime: picture.decodingTime,
                    presentationTime: picture.presentationTime, duration: picture.duration))
        }
    }

    func finish() throws(ExportError) {
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
            parameterSets: part.parameterSets, size: part.size, changesParameterSets: part.changesParameterSets)
        var made: MediaFileWriter?
        try attempt { () throws(MediaFileError) in
            made = try MediaFileWriter(path: target.temporaryName(index), container: container, track: track)
        }
        writer = made
    }

    private func attempt(_ work: () throws(MediaFileError) -> Void) throws(ExportError) {
        do throws(MediaFileError) {
            try work()
        } catch {
            let name = target.name(max(0, begun - 1))
            switch error {
            case .diskFull: throw .diskFull(name)
            case .permissionDenied: throw .cannotCreate(name, reason: "\(error)", isPermission: true)
            case .outOfMemory, .rejected: throw .writing(name, reason: "\(error)")
            }
        }
    }
}
