extension Collection where Element: Equatable {
    /// The position of the first occurrence of `part`, which is `startIndex` if `part` is empty; nil if there is none.
    ///
    /// The standard library's `firstRange(of:)` and `contains(_:)` for text belong to its regular expressions, which
    /// are 1.4 MB of a static program.
    package func firstPosition(of part: some Collection<Element>) -> Index? {
        var start = startIndex
        while !self[start...].starts(with: part) {
            if start == endIndex { return nil }
            formIndex(after: &start)
        }
        return start
    }
}
