import CommandLine
import Glibc
import TestScene

/// Writes what a scene shows without an X server: pictures, words and facts, for programs that measure.
struct SceneOutput {
    let scene: any Scene

    /// Pictures as raw RGB, one after the other, for ticks as in "0,3,10".
    func writePictures(_ ticks: [Int]) -> Bool {
        var picture = ScenePicture(width: scene.width, height: scene.height)
        var previous: Int?
        for tick in ticks {
            // A scene can go on from any earlier tick.
            if let before = previous, before > tick { previous = nil }
            _ = scene.paint(tick: tick, after: previous, with: &picture)
            previous = tick
            guard write(picture.bytes) else { return false }
        }
        return true
    }

    /// The text to be read at a tick, a line each.
    func writeText(_ tick: Int) -> Bool {
        guard let work = scene as? WorkScene else { return true }
        return StandardStreams.print(work.text(at: tick).map { $0 + "\n" }.joined())
    }

    /// See `WorkScene.facts`.
    func writeFacts() -> Bool {
        guard let work = scene as? WorkScene else { return true }
        return StandardStreams.print(work.facts.map { $0 + "\n" }.joined())
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let count = Glibc.write(STDOUT_FILENO, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
    }
}
