import CommandLine
import Glibc
import TestScene

/// Writes what a scene shows, without an X server: pictures, words and facts, for programs that measure.
struct SceneOutput {
    let scene: any Scene

    /// Writes the pictures of `ticks` as raw RGB, one after another.
    func writePictures(_ ticks: [Int]) -> Bool {
        var picture = ScenePicture(width: scene.width, height: scene.height)
        var previous: Int?
        for tick in ticks {
            // A scene can continue from any earlier tick.
            if let before = previous, before > tick { previous = nil }
            _ = scene.paint(tick: tick, after: previous, with: &picture)
            previous = tick
            guard writeAll(picture.bytes, to: STDOUT_FILENO) else { return false }
        }
        return true
    }

    /// Writes the text that is visible at a tick, one line for each line of text.
    func writeText(_ tick: Int) -> Bool {
        guard let work = scene as? WorkScene else { return true }
        return StandardStreams.print(work.text(at: tick).map { $0 + "\n" }.joined())
    }

    /// Writes the scene's facts; see `WorkScene.facts`.
    func writeFacts() -> Bool {
        guard let work = scene as? WorkScene else { return true }
        return StandardStreams.print(work.facts.map { $0 + "\n" }.joined())
    }
}
