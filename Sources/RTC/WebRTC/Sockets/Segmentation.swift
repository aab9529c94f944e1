import STUN

/// Whether a batch to a peer may be left to the kernel to divide (UDP GSO).
///
/// The kernel refuses that on some routes, such as IPsec and interfaces that compute no checksums. What it refuses for
/// one peer is still possible for the others. Owned by the media thread.
struct Segmentation {
    /// As many as a host has viewers.
    private static let limit = 4096

    private let isAvailable: Bool
    private var refused: Set<TransportAddress> = []

    /// `isAvailable` says whether the kernel has it at all.
    init(isAvailable: Bool) { self.isAvailable = isAvailable }

    /// Whether to try it for `peer`.
    func allows(_ peer: TransportAddress) -> Bool { isAvailable && (refused.isEmpty || !refused.contains(peer)) }

    /// Notes that the kernel has refused it on the route to `peer`. It is tried again once there are too many such
    /// peers to keep.
    mutating func refuse(_ peer: TransportAddress) {
        if refused.count >= Self.limit { refused.removeAll() }
        refused.insert(peer)
    }
}
