import CommandLine
import LinkTransport
import ScreenRelayKit

/// `--track [ROOM/]NAME=LINK`: another capture's link, and the track that it feeds.
struct TrackOption: Sendable {
    /// The room that it is in; nil for the first.
    let room: String?
    let name: String
    let link: LinkAddress

    static let option = Option(
        long: "track", value: .required("[ROOM/]NAME=LINK"),
        help:
            "another track, of the room or of a room of that name, which then has a link of its own; a capture for it "
            + "connects at LINK, which is written as for --link; may be repeated",
        repeats: true)

    /// What the user wrote; each track once, and none that is there without it.
    static func all(_ options: ParsedOptions, room: String) throws(UsageError) -> [TrackOption] {
        let tracks = try options.values("track", as: format)
        var seen = ["\(room)/\(ScreenRelayHost.firstTrackName)"]
        for track in tracks {
            let name = "\(track.room ?? room)/\(track.name)"
            guard !seen.contains(name) else {
                throw UsageError("--track \(name): there is a track of that name in that room already")
            }
            seen.append(name)
            do throws(LinkTransportError) {
                try track.link.checkHandedDown()
            } catch {
                throw UsageError("--track \(name)=\(track.link): \(error)", exitCode: ExitCode(error.kind))
            }
        }
        return tracks
    }

    private static var format: ValueFormat<TrackOption> {
        ValueFormat { (text) throws(ValueProblem) in
            guard let end = text.firstIndex(of: "=") else {
                throw ValueProblem("not a track; write it like desk2=unix:b.sock, or attic/desk2=unix:b.sock")
            }
            let words = text[..<end].split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            let link: LinkAddress
            do throws(LinkTransportError) {
                link = try LinkAddress(parsing: String(text[text.index(after: end)...]))
            } catch {
                throw ValueProblem(error.description)
            }
            guard words.count <= 2, words.allSatisfy(isName), let name = words.last else {
                throw ValueProblem(
                    "not the name of a track; use up to 64 letters, digits, '-', '_' and '.', not '.' first, and in front "
                        + "of it, with '/' between, a room's")
            }
            return TrackOption(room: words.count == 2 ? words.first : nil, name: name, link: link)
        }
    }

    /// Rooms and tracks are named alike.
    private static func isName(_ text: String) -> Bool {
        (try? ValueFormat<String>.roomName.read(text, option: "--track")) != nil
    }
}
