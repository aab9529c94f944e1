/// What a publisher over another protocol than WHIP sends into a track.
package struct TrackPublication: Sendable, Equatable {
    /// The protocol.
    package let transport: PublishingProtocol
    /// What is sent and what becomes of it, in words for people; without anything that the publisher chose.
    package let text: String
    /// Whether the host encodes the pictures again.
    package let isReencoded: Bool

    package init(transport: PublishingProtocol, text: String, isReencoded: Bool) {
        self.transport = transport
        self.text = text
        self.isReencoded = isReencoded
    }
}
