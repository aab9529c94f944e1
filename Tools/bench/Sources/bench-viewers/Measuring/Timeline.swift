/// One viewer's position on the common timeline of a ``PictureTable``.
struct Timeline {
    /// What to add to a timestamp to get the tick on the common timeline; nil before it is known.
    private(set) var offset: UInt32?
    /// The last whole picture before the offset is known.
    private var unaligned: ReceivedStream.Picture?
    /// The offset that was found last, and how often in a row.
    private var found: (offset: UInt32, count: Int) = (0, 0)

    /// Each session has timestamps of its own, but the same differences between them. So the offset is found by the
    /// times of arrival: it is right if it is the same for three pictures in a row, whose intervals are never exactly
    /// equal. A picture is compared when the next one comes, as the reference viewer has it by then.
    mutating func align(with picture: ReceivedStream.Picture, of viewer: ObjectIdentifier, in table: PictureTable) {
        if table.noteReference(picture, of: viewer) {
            offset = 0
        } else if offset == nil {
            if let last = unaligned, let tick = table.tick(near: last.arrival) {
                let offset = tick &- last.timestamp
                found = (offset, found.offset == offset ? found.count + 1 : 1)
                if found.count == 3 { self.offset = offset }
            }
            unaligned = picture
        }
    }
}
