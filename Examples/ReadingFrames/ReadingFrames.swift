// Reads what a capture shares, without a browser: a line for each frame, and the shade of each picture's middle.
//
//     swift run reading-frames SOCKET        # then: screenrelay capture --link SOCKET
//
// An output to another service is written in the same way: it takes coded frames as viewers get them, and can't slow
// down anybody else.

import Foundation
import Ingest
import LinkTransport
import MediaTypes
import ScreenRelayKit
import TrackHub

@main
enum ReadingFrames {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 2 else {
            say("usage: reading-frames SOCKET")
            exit(64)
        }
        let host = try ScreenRelayHost(HostConfiguration())
        let link = try host.firstTrack.openLink(at: .unix(path: arguments[1]))
        defer { link.stop() }

        async let pictures: Void = readPictures(of: host.firstTrack)
        for await frame in host.firstTrack.frames {
            let kind = frame.coded.isRandomAccess ? "key frame" : "frame"
            say("\(kind) \(frame.number) of \(frame.coded.bytes.count) bytes, \(frame.format.codec)")
        }
        try await pictures
    }

    private static func readPictures(of track: HostedTrack) async throws {
        for try await picture in track.pictures {
            let middle = picture.bytes[picture.size.width * (picture.size.height / 2) + picture.size.width / 2]
            say("a picture of \(picture.size), its middle is \(middle) of 255")
        }
    }

    /// Unlike `print`, also into a pipe at once.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
