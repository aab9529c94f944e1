/// Why the files of the page can't be joined.
public enum PageError: Error, Equatable, CustomStringConvertible {
    case missing(file: String)
    /// This module imports itself, directly or through others.
    case circle(file: String)
    /// Another module in another folder has the name of this one. Names of files are unique in the page.
    case duplicateName(file: String)
    case notUnderstood(file: String, line: String)

    public var description: String {
        switch self {
        case .missing(let file): "\(file): error: there is no such file"
        case .circle(let file): "\(file): error: this module imports itself, directly or through others"
        case .duplicateName(let file): "\(file): error: another module has the same name"
        case .notUnderstood(let file, let line): "\(file): error: this line can't be joined with others: \(line)"
        }
    }
}
