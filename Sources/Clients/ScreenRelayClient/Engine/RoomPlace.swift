import OutputSettings
import Rooms
import Signalling
import WebRTCPushing

/// Where a client's media are.
enum RoomPlace: Sendable {
    /// A room, by its link, which is kept as text too.
    case room(RoomLink, text: String)
    /// A WHEP endpoint, which has one track.
    case endpoint(WebRTCServer)

    /// The name of an endpoint's track.
    static let onlyTrack = ""

    /// Reads an invite link or the address of a WHEP endpoint.
    init(_ link: String) throws(RoomClientError) {
        do throws(OutputSettingsError) {
            let server = try WebRTCServer(viewing: link)
            // Only an invite link has tracks to choose from.
            let hasTracks = (try? WebRTCServer(viewing: link, track: TrackName.screen.text)) != nil
            if hasTracks, let room = RoomLink(link) {
                self = .room(room, text: link)
            } else {
                self = .endpoint(server)
            }
        } catch {
            throw .badLink(error.description)
        }
    }

    /// Where the track `name` is received; nil if there can't be such a track.
    func source(of name: String) -> WebRTCServer? {
        switch self {
        case .room(_, let text): try? WebRTCServer(viewing: text, track: name)
        case .endpoint(let server): server
        }
    }
}
