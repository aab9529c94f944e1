// Mirrors a room: counts the frames of its first track, and publishes the track's pictures, left to right, as the track
// "mirror" of the same room.
//
//     swift run mirror LINK        # the link for presenters that screenrelay host --presenters prints
//
// It needs no host of its own: it joins the room over the network, like a page.

import Foundation
import MediaTypes
import ScreenRelayClient

@main
enum Mirror {
    private static let trackName = "mirror"

    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            say("usage: mirror LINK")
            exit(64)
        }
        do {
            let room = try RoomClient(CommandLine.arguments[1])
            var isMirrored = false
            for await event in try room.join() {
                switch event {
                case .joined: say("joined")
                case .trackAppeared(let track) where !isMirrored && track.name != trackName:
                    isMirrored = true
                    Task { await count(track) }
                    Task { await mirror(track, in: room) }
                case .trackAppeared, .trackEnded: break
                case .membersChanged(let count, _): say("\(count) people")
                case .reconnecting(let reason): say("reconnecting: \(reason)")
                case .ended(let end):
                    say("mirror: \(end)")
                    exit(69)
                }
            }
        } catch {
            say("mirror: \(error)")
            exit(65)
        }
    }

    /// Counts coded frames, which aren't decoded for that.
    private static func count(_ track: RoomTrack) async {
        var frames = 0
        for await frame in track.frames {
            frames += 1
            if frames % 25 == 1 { say("frame \(frames) of \(track.name), \(frame.coded.bytes.count) bytes") }
        }
    }

    /// Publishes from the first picture on. The publication reconnects by itself, as the client does.
    private static func mirror(_ track: RoomTrack, in room: RoomClient) async {
        do {
            var publication: RoomPublication?
            for try await picture in track.pictures {
                let mirrored = mirrored(picture)
                if let publication {
                    publication.write(mirrored)
                } else {
                    let new = try room.publish(trackName, picturesPerSecond: 30)
                    new.write(mirrored)
                    publication = new
                    Task { await tell(new) }
                }
            }
            publication?.end()
        } catch {
            say("mirror: \(error)")
            exit(70)
        }
    }

    private static func tell(_ publication: RoomPublication) async {
        for await event in publication.events {
            switch event {
            case .published: say("published \(publication.track)")
            case .reconnecting(let reason): say("the publication reconnects: \(reason)")
            case .ended(let end): say("the publication has ended: \(end)")
            }
        }
    }

    /// Reverses the rows of each plane.
    private static func mirrored(_ picture: I420Picture) -> I420Picture {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(picture.bytes.count)
        var start = 0
        for (width, height) in [
            (picture.size.width, picture.size.height), (picture.chromaWidth, picture.chromaHeight),
            (picture.chromaWidth, picture.chromaHeight),
        ] {
            for _ in 0..<height {
                bytes += picture.bytes[start..<start + width].reversed()
                start += width
            }
        }
        return I420Picture(
            size: picture.size, bytes: bytes, isFullRange: picture.isFullRange, matrix: picture.matrix,
            captureTime: picture.captureTime)
    }

    /// Unlike `print`, also into a pipe at once.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
