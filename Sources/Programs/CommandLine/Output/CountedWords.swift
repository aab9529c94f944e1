/// A number of things in words: "1 picture", "2 pictures". `noun` is the singular.
public func counted(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
