import CSRT
import ScreenRelayKit
import Threading

/// Decides in the handshake whether a caller may publish, so that it sends nothing before.
final class SRTGate: Sendable {
    private let served: ServedPublishers
    private let lines: LogRateLimiter
    /// Of the thread on which libsrt reads the port.
    private let access: Sent<ViewerAccess>

    init(_ host: ScreenRelayHost, _ served: ServedPublishers, _ lines: LogRateLimiter) {
        self.served = served
        self.lines = lines
        access = Sent(ViewerAccess(of: host))
    }

    /// The code that a caller at `address` is rejected with; nil if it may publish. Called on the thread on which
    /// libsrt reads the port; libsrt compares the passphrase afterwards.
    func rejection(of address: String, streamID: String) -> Int32? {
        do throws(SRTRefusal) {
            let place = try StreamID.place(in: streamID)
            guard let refusal = served.refusal(of: address, to: place, under: access.value) else { return nil }
            throw SRTRefusal(refusal)
        } catch {
            lines(of: address).info("srt: \(address) was refused: \(error)")
            return error.code
        }
    }
}

/// Why a caller may not publish, with the code that it is told (SRT's access control guidelines, "Error codes").
struct SRTRefusal: Error, Hashable, CustomStringConvertible {
    let code: Int32
    let description: String

    init(_ code: Int32, _ description: String) { (self.code, self.description) = (code, description) }

    init(_ refusal: PublisherRefusal) {
        switch refusal {
        // It doesn't depend on whether the room exists, so that callers don't learn which rooms do.
        case .unauthorized:
            self.init(SRT_REJX_UNAUTHORIZED, "its stream identifier needs the presenters' token: publish:ROOM,TOKEN")
        case .taken: self.init(SRT_REJX_CONFLICT, "\(refusal); publish:ROOM/TRACK,TOKEN makes another track")
        case .full(let reason): self.init(SRT_REJX_OVERLOAD, reason)
        case .unusable(let reason): self.init(SRT_REJX_UNACCEPTABLE, reason)
        }
    }
}
