import Dispatch
import MediaTypes
import PictureFiles
import Signalling
import Synchronization

/// Makes files of a track's pictures. While anyone holds a file, the same picture isn't encoded again in that format.
///
/// Encoding a large picture takes tens of milliseconds, so it is done on a queue of its own, one picture after the
/// other.
final class SnapshotFiles: Sendable {
    private struct Made: Sendable {
        weak var file: SnapshotFile?
        let digest: Int
    }

    private let queue = DispatchQueue(label: "snapshots")
    private let made = Mutex<[SnapshotFormat: Made]>([:])

    /// Makes the file, unless `isWanted` returns false at its turn. `completion` is called once, on the queue.
    func make(
        of picture: I420Picture, _ format: SnapshotFormat, isWanted: @escaping @Sendable () -> Bool,
        _ completion: @escaping @Sendable (Result<SnapshotFile, SnapshotError>) -> Void
    ) {
        queue.async { [self] in
            guard isWanted() else { return completion(.failure(.noPicture)) }
            do {
                completion(.success(try file(of: picture, format)))
            } catch {
                completion(.failure(.failed("\(error)")))
            }
        }
    }

    private func file(of picture: I420Picture, _ format: SnapshotFormat) throws -> SnapshotFile {
        let digest = Self.digest(of: picture)
        let known = made.withLock { $0[format].flatMap { $0.digest == digest ? $0.file : nil } }
        if let known { return known }
        let bytes =
            switch format {
            case .png: try ImageFile.png(picture)
            case .jpeg: try ImageFile.jpeg(picture)
            }
        let file = SnapshotFile(bytes)
        made.withLock { $0[format] = Made(file: file, digest: digest) }
        return file
    }

    /// A hash that tells pictures apart. Its key is random for each process, so that no one can craft a collision.
    private static func digest(of picture: I420Picture) -> Int {
        var hasher = Hasher()
        hasher.combine(picture.size.width)
        hasher.combine(picture.size.height)
        hasher.combine(picture.isFullRange)
        hasher.combine(picture.matrix)
        picture.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
