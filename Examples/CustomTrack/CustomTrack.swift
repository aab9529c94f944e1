// Publishes an application's own frames as a custom track into a room: here, an H.264 file played in a loop.
//
//     swift run custom-track FILE.264 [PICTURES A SECOND]
//
// What is written is what viewers get; nothing is encoded again. A file can't make a key frame on request, so the track
// says so, and the host's own encoder makes one from the last picture for viewers who join long after the file's last
// one.

import Foundation
import H264
import MediaTypes
import ScreenRelayKit

@main
enum CustomTrack {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 2, let file = FileManager.default.contents(atPath: arguments[1]) else {
            say("usage: custom-track FILE.264 [PICTURES A SECOND]")
            exit(64)
        }
        let picturesPerSecond = arguments.count > 2 ? Double(arguments[2]) ?? 30 : 30
        let units = AccessUnitBuilder.accessUnits(inAnnexB: Array(file))
        guard !units.isEmpty else {
            say("custom-track: \(arguments[1]) has no H.264 pictures in it")
            exit(65)
        }

        // The room, and the page that shows it.
        var configuration = HostConfiguration()
        configuration.room = "custom"
        let host = try ScreenRelayHost(configuration)

        // The track, and its way back.
        let track = CustomVideoTrack(
            makesKeyFrames: false,
            feedback: CustomVideoTrack.Feedback(
                keyFrameWanted: { say("a viewer needs a key frame") },
                targetBitRateChanged: { say("the viewers' paths carry \($0.bitsPerSecond / 1000) kbit/s") },
                watchedChanged: { say($0 ? "somebody watches" : "nobody watches") }))
        guard host.firstTrack.publish(track) else { exit(70) }
        say(host.link)

        // The pictures, one after another.
        while true {
            for unit in units {
                track.write(unit)
                Thread.sleep(forTimeInterval: 1 / max(picturesPerSecond, 0.1))
            }
        }
    }

    /// Unlike `print`, also into a pipe at once.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
