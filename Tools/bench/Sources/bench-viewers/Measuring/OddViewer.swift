/// What a viewer with a path of its own has counted.
struct OddViewer {
    /// Its path, as the user described it.
    let path: String
    let hasJoined: Bool
    var counters: Counters

    /// What it has counted since an earlier moment.
    func since(_ earlier: OddViewer) -> OddViewer {
        OddViewer(path: path, hasJoined: hasJoined, counters: counters - earlier.counters)
    }

    var json: JSONFields {
        var fields = JSONFields()
        fields.add("path", text: path)
        fields.add("joined", hasJoined ? 1 : 0)
        fields.add(counters)
        return fields
    }

    var text: String {
        guard hasJoined else { return "not joined" }
        return "whole pictures \(counters.wholePictures), broken \(counters.brokenPictures), packets "
            + "\(counters.packets), lost on the path \(counters.pathDrops), repeated \(counters.retransmissions)"
    }
}
