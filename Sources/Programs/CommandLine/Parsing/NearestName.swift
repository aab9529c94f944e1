/// The name that a mistyped word most likely meant, or nil. At most a third of the name may differ. If several are
/// equally near, the first one is returned.
func nearest(to word: String, among names: [String]) -> String? {
    // A word longer than any name is no typing error, and the comparison's time grows with the product of the lengths.
    guard word.utf8.count <= 40 else { return nil }
    var best: (name: String, distance: Int)?
    for name in names {
        let distance = editDistance(Array(word.utf8), Array(name.utf8))
        if distance <= max(1, name.utf8.count / 3), distance < best?.distance ?? .max { best = (name, distance) }
    }
    return best?.name
}

/// The number of bytes to insert, delete, replace or swap with a neighbour to get from one word to the other.
private func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var rows = [[Int]](repeating: [Int](repeating: 0, count: second.count + 1), count: first.count + 1)
    for i in 0...first.count {
        for j in 0...second.count {
            if i == 0 || j == 0 {
                rows[i][j] = i + j
                continue
            }
            let replaced = rows[i - 1][j - 1] + (first[i - 1] == second[j - 1] ? 0 : 1)
            var least = min(replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1)
            if i > 1, j > 1, first[i - 1] == second[j - 2], first[i - 2] == second[j - 1] {
                least = min(least, rows[i - 2][j - 2] + 1)
            }
            rows[i][j] = least
        }
    }
    return rows[first.count][second.count]
}
