import CommandLine
import LinkTransport
import ScreenRelayKit

/// `--track [ROOM/]NAME=LINK`: an additional track, and the link for its capture.
struct TrackOption: Sendable {
    private let place: TrackPlace
    let link: LinkAddress

    /// The track's room, or nil for the first one.
    var room: String? { place.room }
    var name: String { place.name }
    /// The track's name in error messages.
    var label: String { "--track \(place)" }

    static let option = Option(
        long: "track", value: .required("[ROOM/]NAME=LINK"),
        help:
            "add a track to the room, or to another room of that name, which then has its own invite link; the track's "
            + "capture connects at LINK, written as for --link; may be repeated",
        repeats: true)

    /// Reads the options, and checks that all tracks have different names and addresses, also from the first track's.
    ///
    /// - Parameter link: where the first track's capture connects.
    static func all(_ options: ParsedOptions, room: String, link: LinkAddress) throws(UsageError) -> [TrackOption] {
        let tracks = try options.values("track", as: format)
        var seen = ["\(room)/\(ScreenRelayHost.firstTrackName)"]
        for track in tracks {
            let name = "\(track.room ?? room)/\(track.name)"
            guard !seen.contains(name) else {
                throw UsageError("--track \(name): that room already has a track of that name")
            }
            seen.append(name)
            do throws(SocketError) {
                try track.link.checkHandedDown()
            } catch {
                throw UsageError("--track \(name)=\(track.link): \(error)", exitCode: ExitCode(error.kind))
            }
        }
        try checkPlaces(of: tracks, beside: link, isNamed: options.has("link"))
        return tracks
    }

    /// The second of two links at the same address could not be opened, and the error would blame another host.
    private static func checkPlaces(
        of tracks: [TrackOption], beside link: LinkAddress, isNamed: Bool
    ) throws(UsageError) {
        var owners = [(link: link, label: isNamed ? "--link" : "the host's own capture link")]
        for track in tracks {
            if let owner = owners.first(where: { $0.link == track.link }), !track.link.isAnyPort {
                throw UsageError("\(track.label): \(owner.label) has that address already: \(track.link)")
            }
            owners.append((track.link, track.label))
        }
    }

    private static var format: ValueFormat<TrackOption> {
        ValueFormat { (text) throws(ValueError) in
            guard let end = text.firstIndex(of: "=") else {
                throw ValueError("not a track; write it like desk2=unix:b.sock, or attic/desk2=unix:b.sock")
            }
            let link: LinkAddress
            do throws(SocketError) {
                link = try LinkAddress(parsing: String(text[text.index(after: end)...]))
            } catch {
                throw ValueError(error.description)
            }
            guard let place = TrackPlace(text[..<end]) else { throw ValueError(TrackPlace.mistake) }
            return TrackOption(place: place, link: link)
        }
    }
}

extension LinkAddress {
    /// Whether the address stands for any free port.
    fileprivate var isAnyPort: Bool {
        network?.port == 0
    }
}
